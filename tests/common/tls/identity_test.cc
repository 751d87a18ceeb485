#include "common/tls/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/strings/ascii.h"
#include "common/base/message.h"
#include "tests/common/tls/test_pki.h"

namespace assay::tls {
namespace {

using assay::testing::Output;
using assay::testing::ReadText;
using assay::testing::TestCa;
using assay::testing::TestDirectory;
using assay::testing::WriteText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string IdOf(const absl::Status& status) {
  auto message = MessageOf(status);
  return message.has_value() ? message->id() : std::string(status.message());
}

TEST(KeyTest, IsAP256KeyInPkcs8) {
  TestDirectory directory;
  std::string key = *GenerateKey();
  std::string path = WriteText(directory.File("key"), key);

  EXPECT_THAT(key, StartsWith("-----BEGIN PRIVATE KEY-----\n"));
  EXPECT_THAT(Output("openssl pkey -noout -text -in " + path), HasSubstr("NIST CURVE: P-256"));
}

TEST(KeyTest, IsNeverTheSameTwice) { EXPECT_NE(*GenerateKey(), *GenerateKey()); }

TEST(CsrTest, OpenSslAcceptsItsSignatureAndFindsNoSubject) {
  TestDirectory directory;
  std::string path = WriteText(directory.File("csr"), *MakeCsr(*GenerateKey()));

  std::string text = Output("openssl req -inform DER -verify -noout -subject -in " + path);

  EXPECT_THAT(text, HasSubstr("self-signature verify OK"));
  EXPECT_THAT(text, HasSubstr("subject=\n"));
}

TEST(CertificateTest, SaysWhatOpenSslSays) {
  TestDirectory directory;
  TestCa ca;
  std::string chain = ca.Agent("a-7").chain_pem;
  std::string path = WriteText(directory.File("leaf"), chain);

  CertificateInfo info = *ReadCertificate(chain);

  std::string serial = Output("openssl x509 -noout -serial -in " + path);
  std::string print = Output("openssl x509 -noout -fingerprint -sha256 -in " + path);
  print.erase(std::remove(print.begin(), print.end(), ':'), print.end());
  EXPECT_EQ(absl::StrCat("serial=", absl::AsciiStrToUpper(info.serial), "\n"), serial);
  EXPECT_EQ(absl::StrCat("sha256 Fingerprint=", absl::AsciiStrToUpper(info.sha256.substr(7)), "\n"),
            print);
  EXPECT_EQ(info.uri, "assay://lab/agent/a-7");
  EXPECT_EQ(
      absl::FormatTime("notAfter=%b %e %H:%M:%S %Y GMT\n", info.not_after, absl::UTCTimeZone()),
      Output("openssl x509 -noout -enddate -in " + path));
  EXPECT_EQ(
      absl::FormatTime("notBefore=%b %e %H:%M:%S %Y GMT\n", info.not_before, absl::UTCTimeZone()),
      Output("openssl x509 -noout -startdate -in " + path));
}

TEST(CertificateTest, RefusesWhatIsNone) {
  EXPECT_EQ(IdOf(ReadCertificate("").status()), "identity.no_certificate");
  EXPECT_EQ(IdOf(ReadCertificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                     .status()),
            "identity.bad_certificate");
  EXPECT_EQ(IdOf(ReadCertificate("-----BEGIN CERTIFICATE-----\nMIIB").status()),
            "identity.bad_certificate");
}

TEST(IdentityFileTest, RoundTripsAndIsPrivate) {
  TestDirectory directory;
  TestCa ca;
  Identity saved = ca.Agent("a-1");

  ASSERT_TRUE(SaveIdentity(directory.File("id.pem"), saved).ok());

  Identity loaded = *LoadIdentity(directory.File("id.pem"));
  EXPECT_EQ(loaded.key_pem, saved.key_pem);
  EXPECT_EQ(loaded.chain_pem, saved.chain_pem);
  EXPECT_EQ(loaded.ca_pem, saved.ca_pem);
  struct stat info;
  ASSERT_EQ(stat(directory.File("id.pem").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST(IdentityFileTest, ReplacesAnOlderOneWhole) {
  TestDirectory directory;
  TestCa ca;
  ASSERT_TRUE(SaveIdentity(directory.File("id.pem"), ca.Agent("a-1")).ok());
  Identity renewed = ca.Agent("a-1");

  ASSERT_TRUE(SaveIdentity(directory.File("id.pem"), renewed).ok());

  EXPECT_EQ(LoadIdentity(directory.File("id.pem"))->chain_pem, renewed.chain_pem);
}

TEST(IdentityTest, ClockDoesNotMatter) {
  TestCa ca;
  EXPECT_TRUE(CheckIdentity(ca.Agent("a-1", absl::Now() - absl::Hours(1000))).ok());
}

struct BadIdentity {
  const char* name;
  void (*spoil)(Identity& identity);
  const char* id;
};

class BadIdentityTest : public ::testing::TestWithParam<BadIdentity> {};

TEST_P(BadIdentityTest, IsRefusedBeforeAnythingIsWritten) {
  TestDirectory directory;
  TestCa ca;
  Identity identity = ca.Agent("a-1");
  GetParam().spoil(identity);
  std::string path = directory.File("id.pem");
  WriteText(path, "old");

  absl::Status saved = SaveIdentity(path, identity);

  EXPECT_EQ(IdOf(saved), GetParam().id);
  EXPECT_THAT(std::string(saved.message()), HasSubstr(path));
  EXPECT_EQ(ReadText(path), "old");
}

INSTANTIATE_TEST_SUITE_P(
    All, BadIdentityTest,
    ::testing::Values(
        BadIdentity{"KeyOfAnother", [](Identity& i) { i.key_pem = *GenerateKey(); },
                    "identity.key_mismatch"},
        BadIdentity{"NoKey", [](Identity& i) { i.key_pem = "x"; }, "identity.no_key"},
        BadIdentity{"NoChain", [](Identity& i) { i.chain_pem = ""; }, "identity.no_certificate"},
        BadIdentity{"LeafOnly",
                    [](Identity& i) { i.chain_pem.resize(i.chain_pem.find("-----BEGIN", 1)); },
                    "identity.chain_without_ca"},
        BadIdentity{"CaOfAnother", [](Identity& i) { i.ca_pem = TestCa().authority().ca_pem(); },
                    "identity.chain_without_ca"},
        BadIdentity{"LeafOfAnotherCa",
                    [](Identity& i) {
                      // Same coordinator name, another key.
                      std::string leaf = i.chain_pem.substr(0, i.chain_pem.find("-----BEGIN", 1));
                      i.ca_pem = TestCa().authority().ca_pem();
                      i.chain_pem = leaf + i.ca_pem;
                    },
                    "identity.chain_broken"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(IdentityFileTest, EncryptedKeyIsRefusedWithoutAsking) {
  TestDirectory directory;
  TestCa ca;
  Identity identity = ca.Agent("a-1");
  std::string plain = WriteText(directory.File("key"), identity.key_pem);
  std::string encrypted = Output("openssl pkcs8 -topk8 -passout pass:secret -in " + plain);
  ASSERT_THAT(encrypted, HasSubstr("ENCRYPTED PRIVATE KEY"));
  std::string path = WriteText(directory.File("id.pem"), encrypted + identity.chain_pem);

  EXPECT_EQ(IdOf(LoadIdentity(path).status()), "identity.no_key");
}

TEST(IdentityFileTest, MissingFileSaysWhich) {
  absl::Status status = LoadIdentity("/nonexistent/agent.pem").status();

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/agent.pem"));
}

}  // namespace
}  // namespace assay::tls
