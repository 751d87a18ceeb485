#include "server/pki/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <thread>

#include "absl/strings/ascii.h"
#include "common/base/message.h"
#include "tests/common/tls/test_pki.h"

namespace assay::pki {
namespace {

using assay::testing::Output;
using assay::testing::ReadText;
using assay::testing::TestDirectory;
using assay::testing::WriteText;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

const absl::Time kNow =
    absl::FromCivil(absl::CivilSecond(2026, 12, 1, 8, 0, 0), absl::UTCTimeZone());

std::string ReasonOf(const absl::Status& status) {
  if (status.ok()) return "ok";
  auto message = MessageOf(status);
  return message.has_value() ? message->id() : std::string(status.message());
}

class AuthorityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Authority::Create(directory_.path(), "hq.lab", kNow).ok());
    authority_ = *Authority::Load(directory_.path());
  }

  absl::StatusOr<IssuedCertificate> Issue(absl::string_view csr) {
    return authority_->Issue(csr, agent_, "a-1", kNow, absl::Hours(24 * 30));
  }

  // `openssl x509 -text` of a PEM.
  std::string TextOf(const std::string& pem) {
    return Output("openssl x509 -noout -text -in " + WriteText(directory_.File("x.pem"), pem));
  }

  // Whether OpenSSL's command trusts the first certificate for the purpose at `kNow`.
  std::string Verify(const std::string& chain, const std::string& purpose) {
    return Output(absl::StrCat("openssl verify -x509_strict -attime ", absl::ToUnixSeconds(kNow),
                               " -purpose ", purpose, " -CAfile ", directory_.File("ca.pem"), " ",
                               WriteText(directory_.File("leaf.pem"), chain)));
  }

  // A request made by OpenSSL's command.
  std::string RequestOf(const std::string& key_options) {
    Output("openssl req -new -nodes -subj /CN=x -outform DER -keyout " + directory_.File("k") +
           " -out " + directory_.File("csr") + " " + key_options);
    return ReadText(directory_.File("csr"));
  }

  TestDirectory directory_;
  std::unique_ptr<Authority> authority_;
  store::Subject agent_ = {v1::SUBJECT_KIND_SERVER, "hk-gpu-01", v1::ROLE_UNSPECIFIED};
};

TEST_F(AuthorityTest, CaIsWhatItShouldBe) {
  std::string text = TextOf(authority_->ca_pem());

  EXPECT_THAT(text, HasSubstr("NIST CURVE: P-256"));
  EXPECT_THAT(text, HasSubstr("X509v3 Basic Constraints: critical\n                CA:TRUE, "
                              "pathlen:0\n"));
  EXPECT_THAT(text, HasSubstr("X509v3 Key Usage: critical\n                Certificate Sign\n"));
  EXPECT_THAT(text, HasSubstr("Subject: CN = hq.lab CA\n"));
  EXPECT_THAT(text, HasSubstr("X509v3 Subject Key Identifier"));
  EXPECT_THAT(text, HasSubstr("Not Before: Nov 30 07:00:00 2026 GMT"));
  EXPECT_THAT(text, HasSubstr("Not After : Nov 30 08:00:00 2036 GMT"));
  EXPECT_THAT(Verify(authority_->ca_pem(), "any"), HasSubstr(": OK"));
}

TEST_F(AuthorityTest, FilesHaveTheirModes) {
  struct stat key;
  struct stat certificate;
  ASSERT_EQ(stat(directory_.File("ca.key").c_str(), &key), 0);
  ASSERT_EQ(stat(directory_.File("ca.pem").c_str(), &certificate), 0);
  EXPECT_EQ(key.st_mode & 07777, 0600u);
  EXPECT_EQ(certificate.st_mode & 07777, 0644u);
}

TEST_F(AuthorityTest, FingerprintIsOpenSsls) {
  std::string print =
      Output("openssl x509 -noout -fingerprint -sha256 -in " + directory_.File("ca.pem"));
  print.erase(std::remove(print.begin(), print.end(), ':'), print.end());
  EXPECT_EQ(absl::StrCat("sha256 Fingerprint=",
                         absl::AsciiStrToUpper(authority_->ca_fingerprint().substr(7)), "\n"),
            print);
}

TEST_F(AuthorityTest, CaIsNeverReplaced) {
  std::string key = ReadText(directory_.File("ca.key"));

  EXPECT_EQ(Authority::Create(directory_.path(), "other", kNow).code(),
            absl::StatusCode::kAlreadyExists);

  EXPECT_EQ(ReadText(directory_.File("ca.key")), key);
  EXPECT_EQ(ReadText(directory_.File("ca.pem")), authority_->ca_pem());
}

TEST_F(AuthorityTest, CreationThatWasCutShortCanBeRepeated) {
  TestDirectory other;
  WriteText(other.File("ca.key"), ReadText(directory_.File("ca.key")));

  ASSERT_TRUE(Authority::Create(other.path(), "lab", kNow).ok());

  EXPECT_TRUE(Authority::Load(other.path()).ok());
}

TEST_F(AuthorityTest, LoadedAgainItIsTheSame) {
  auto again = *Authority::Load(directory_.path());
  EXPECT_EQ(again->ca_pem(), authority_->ca_pem());
  EXPECT_EQ(again->coordinator_name(), "hq.lab");
}

TEST_F(AuthorityTest, ForeignOrDamagedCaIsRefused) {
  TestDirectory other;
  EXPECT_EQ(Authority::Load(other.path()).status().code(), absl::StatusCode::kNotFound);
  WriteText(other.File("ca.pem"), authority_->ca_pem());
  WriteText(other.File("ca.key"), *tls::GenerateKey());
  EXPECT_EQ(ReasonOf(Authority::Load(other.path()).status()), "identity.bad_ca");
  WriteText(other.File("ca.key"), "junk");
  EXPECT_EQ(ReasonOf(Authority::Load(other.path()).status()), "identity.bad_ca");
  // A leaf and its key.
  tls::Identity serving = *authority_->IssueServing({"c"}, kNow, absl::Hours(1));
  WriteText(other.File("ca.pem"), serving.chain_pem);
  WriteText(other.File("ca.key"), serving.key_pem);
  EXPECT_EQ(ReasonOf(Authority::Load(other.path()).status()), "identity.bad_ca");
}

TEST_F(AuthorityTest, BadCoordinatorNamesAreRefused) {
  TestDirectory other;
  for (std::string name : {std::string(), std::string("a b"), std::string("a/b"),
                           std::string("主机"), std::string(51, 'a')}) {
    EXPECT_EQ(ReasonOf(Authority::Create(other.path(), name, kNow)),
              "identity.bad_coordinator_name");
  }
  EXPECT_TRUE(Authority::Create(other.path(), std::string(50, 'a'), kNow).ok());
  EXPECT_TRUE(Authority::Load(other.path()).ok());
}

TEST_F(AuthorityTest, AgentsLeafIsWhatItShouldBe) {
  IssuedCertificate issued = *Issue(*tls::MakeCsr(*tls::GenerateKey()));

  std::string text = TextOf(issued.chain_pem);
  EXPECT_THAT(text, HasSubstr("X509v3 Subject Alternative Name: critical\n                "
                              "URI:assay://hq.lab/agent/a-1\n"));
  EXPECT_THAT(text, HasSubstr("Issuer: CN = hq.lab CA\n"));
  EXPECT_THAT(text, HasSubstr("Subject: \n"));
  EXPECT_THAT(text, HasSubstr("X509v3 Basic Constraints: critical\n                CA:FALSE\n"));
  EXPECT_THAT(text, HasSubstr("X509v3 Key Usage: critical\n                Digital Signature\n"));
  EXPECT_THAT(text, HasSubstr("X509v3 Extended Key Usage: \n                "
                              "TLS Web Client Authentication\n"));
  EXPECT_THAT(text, HasSubstr("X509v3 Authority Key Identifier"));
  EXPECT_THAT(text, HasSubstr("Not Before: Nov 30 07:00:00 2026 GMT"));
  EXPECT_THAT(text, HasSubstr("Not After : Dec 31 08:00:00 2026 GMT"));
  EXPECT_THAT(Verify(issued.chain_pem, "sslclient"), HasSubstr(": OK"));
  EXPECT_THAT(Verify(issued.chain_pem, "sslserver"), Not(HasSubstr(": OK")));
}

TEST_F(AuthorityTest, RecordSaysWhatTheCertificateSays) {
  IssuedCertificate issued = *Issue(*tls::MakeCsr(*tls::GenerateKey()));

  tls::CertificateInfo info = *tls::ReadCertificate(issued.chain_pem);
  EXPECT_EQ(issued.record.serial, info.serial);
  EXPECT_EQ(issued.record.not_before, info.not_before);
  EXPECT_EQ(issued.record.not_after, info.not_after);
  EXPECT_EQ(issued.record.agent_id, "a-1");
  EXPECT_EQ(issued.record.subject.name, "hk-gpu-01");
  EXPECT_FALSE(issued.record.revoked_at.has_value());
}

TEST_F(AuthorityTest, PersonsLeafHoldsAnyName) {
  store::Subject person = {v1::SUBJECT_KIND_PERSON, "张 三/\"x\",URI:assay://hq.lab/coordinator",
                           v1::ROLE_ADMIN};

  auto issued =
      authority_->Issue(*tls::MakeCsr(*tls::GenerateKey()), person, "", kNow, absl::Hours(24));

  ASSERT_TRUE(issued.ok()) << issued.status();
  PeerName name = *ParsePeerUri(tls::ReadCertificate(issued->chain_pem)->uri);
  EXPECT_EQ(name.kind, PeerKind::kPerson);
  EXPECT_EQ(name.id, person.name);
  EXPECT_EQ(TextOf(issued->chain_pem).find("URI:assay://hq.lab/coordinator"), std::string::npos);
}

TEST_F(AuthorityTest, ServingIdentityServesItsNames) {
  tls::Identity identity =
      *authority_->IssueServing({"c.example", "10.0.0.1", "2001:db8::1"}, kNow, absl::Hours(24));

  std::string text = TextOf(identity.chain_pem);
  EXPECT_THAT(text, HasSubstr("URI:assay://hq.lab/coordinator, DNS:c.example, "
                              "IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1\n"));
  EXPECT_THAT(text, HasSubstr("TLS Web Server Authentication, TLS Web Client Authentication"));
  EXPECT_THAT(Verify(identity.chain_pem, "sslserver"), HasSubstr(": OK"));
  EXPECT_TRUE(tls::CheckIdentity(identity).ok());
  EXPECT_EQ(identity.ca_pem, authority_->ca_pem());
}

TEST_F(AuthorityTest, BadServingNamesAreRefused) {
  EXPECT_EQ(ReasonOf(authority_->IssueServing({}, kNow, absl::Hours(1)).status()),
            "identity.no_serving_name");
  for (const char* name : {"", "c:7443", "[::1]", "a b", "x,DNS:evil", "*.example", "fe80::1%lo"}) {
    EXPECT_EQ(ReasonOf(authority_->IssueServing({"ok", name}, kNow, absl::Hours(1)).status()),
              "identity.bad_serving_name")
        << name;
  }
}

TEST_F(AuthorityTest, SubjectsThatMakeNoSenseAreRefused) {
  std::string csr = *tls::MakeCsr(*tls::GenerateKey());
  const store::Subject none;
  const store::Subject person = {v1::SUBJECT_KIND_PERSON, "li", v1::ROLE_VIEWER};
  const store::Subject nobody = {v1::SUBJECT_KIND_PERSON, "", v1::ROLE_VIEWER};
  const absl::Duration day = absl::Hours(24);
  EXPECT_EQ(ReasonOf(authority_->Issue(csr, none, "a-1", kNow, day).status()),
            "identity.bad_subject");
  EXPECT_EQ(ReasonOf(authority_->Issue(csr, person, "a-1", kNow, day).status()),
            "identity.bad_subject");
  EXPECT_EQ(ReasonOf(authority_->Issue(csr, nobody, "", kNow, day).status()),
            "identity.bad_subject");
  EXPECT_EQ(ReasonOf(authority_->Issue(csr, agent_, "", kNow, day).status()),
            "identity.bad_subject");
  EXPECT_EQ(ReasonOf(authority_->Issue(csr, agent_, "a-1", kNow, absl::ZeroDuration()).status()),
            "identity.bad_subject");
}

TEST_F(AuthorityTest, LeafNeverOutlivesTheCa) {
  absl::Time ca_end = tls::ReadCertificate(authority_->ca_pem())->not_after;
  std::string csr = *tls::MakeCsr(*tls::GenerateKey());

  auto late = authority_->Issue(csr, agent_, "a-1", ca_end - absl::Hours(1), absl::Hours(24));

  EXPECT_EQ(late->record.not_after, ca_end);
  EXPECT_EQ(ReasonOf(authority_->Issue(csr, agent_, "a-1", ca_end, absl::Hours(1)).status()),
            "identity.ca_expired");
  EXPECT_EQ(
      ReasonOf(
          authority_->Issue(csr, agent_, "a-1", kNow - absl::Hours(26), absl::Hours(1)).status()),
      "identity.ca_expired");
}

TEST_F(AuthorityTest, SerialsAreLongAndDiffer) {
  std::string csr = *tls::MakeCsr(*tls::GenerateKey());
  std::set<std::string> serials;
  size_t digits = 0;
  for (int i = 0; i < 200; ++i) {
    std::string serial = Issue(csr)->record.serial;
    digits += serial.size();
    serials.insert(serial);
  }
  EXPECT_EQ(serials.size(), 200u);
  // 32 digits each, but for the one in 256 that begins with a zero byte.
  EXPECT_GE(digits, 200u * 32 - 40);
}

TEST_F(AuthorityTest, StrongKeysOfOthersAreAccepted) {
  for (const char* options : {"-newkey rsa:2048", "-newkey ec -pkeyopt ec_paramgen_curve:P-384"}) {
    auto issued = Issue(RequestOf(options));
    ASSERT_TRUE(issued.ok()) << options << ": " << issued.status();
    EXPECT_THAT(Verify(issued->chain_pem, "sslclient"), HasSubstr(": OK"));
    // The subject inside the request is ignored.
    EXPECT_THAT(TextOf(issued->chain_pem), HasSubstr("Subject: \n"));
  }
}

TEST_F(AuthorityTest, WeakKeysAreRefused) {
  for (const char* options :
       {"-newkey rsa:1024", "-newkey ec -pkeyopt ec_paramgen_curve:secp224r1",
        "-newkey ec -pkeyopt ec_paramgen_curve:secp256k1", "-newkey ed25519",
        "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit"}) {
    std::string csr = RequestOf(options);
    ASSERT_FALSE(csr.empty()) << options;
    EXPECT_EQ(ReasonOf(Issue(csr).status()), "identity.weak_key") << options;
    std::remove(directory_.File("csr").c_str());
  }
}

TEST_F(AuthorityTest, RequestNotSignedByItsKeyIsRefused) {
  std::string csr = *tls::MakeCsr(*tls::GenerateKey());
  csr.back() = static_cast<char>(csr.back() ^ 1);
  EXPECT_EQ(ReasonOf(Issue(csr).status()), "identity.csr_signature");
}

TEST_F(AuthorityTest, GarbageIsRefused) {
  std::string csr = *tls::MakeCsr(*tls::GenerateKey());
  EXPECT_EQ(ReasonOf(Issue("").status()), "identity.bad_csr");
  EXPECT_EQ(ReasonOf(Issue("junk").status()), "identity.bad_csr");
  EXPECT_EQ(ReasonOf(Issue(csr + "x").status()), "identity.bad_csr");
  EXPECT_EQ(ReasonOf(Issue(std::string(1 << 20, '0')).status()), "identity.bad_csr");
  for (size_t size = 0; size < csr.size(); ++size) {
    EXPECT_FALSE(Issue(csr.substr(0, size)).ok()) << size;
  }
}

TEST_F(AuthorityTest, IssuesFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(Issue(*tls::MakeCsr(*tls::GenerateKey())).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- names

TEST(PeerUriTest, IsReadAsItIsWritten) {
  const std::pair<PeerName, const char*> kNames[] = {
      {{"hq", PeerKind::kAgent, "a-x7"}, "assay://hq/agent/a-x7"},
      {{"hq", PeerKind::kPerson, "li.lei"}, "assay://hq/person/li.lei"},
      {{"hq", PeerKind::kPerson, "张三"}, "assay://hq/person/%E5%BC%A0%E4%B8%89"},
      {{"hq", PeerKind::kPerson, "a/b %"}, "assay://hq/person/a%2Fb%20%25"},
      {{"a.b-c_d", PeerKind::kCoordinator, ""}, "assay://a.b-c_d/coordinator"}};
  for (const auto& [name, uri] : kNames) {
    EXPECT_EQ(FormatPeerUri(name), uri);
    auto parsed = ParsePeerUri(uri);
    ASSERT_TRUE(parsed.ok()) << uri;
    EXPECT_EQ(parsed->coordinator, name.coordinator);
    EXPECT_EQ(parsed->kind, name.kind);
    EXPECT_EQ(parsed->id, name.id);
  }
}

TEST(PeerUriTest, OtherSpellingsAreRefused) {
  for (absl::string_view uri : {"",
                                "assay://",
                                "assay://hq",
                                "assay://hq/",
                                "assay:///agent/a",
                                "http://hq/agent/a",
                                "ASSAY://hq/agent/a",
                                "assay://hq/agent/",
                                "assay://hq/agent/a/b",
                                "assay://hq/robot/a",
                                "assay://hq/person/%61",
                                "assay://hq/person/%2f",
                                "assay://hq/person/%",
                                "assay://hq/person/a b",
                                "assay://hq/coordinator/",
                                "assay://hq/coordinator/x",
                                "assay://hq/person/张",
                                "assay://h q/person/a",
                                "assay://hq/agent/a?x",
                                " assay://hq/agent/a"}) {
    EXPECT_EQ(ParsePeerUri(uri).status().code(), absl::StatusCode::kUnauthenticated) << uri;
  }
  EXPECT_FALSE(ParsePeerUri(absl::string_view("assay://hq/agent/a\0", 19)).ok());
  EXPECT_FALSE(ParsePeerUri("assay://hq/agent/" + std::string(257, 'a')).ok());
}

TEST(TokenTest, HasItsFormAndIsNeverTheSame) {
  std::set<std::string> tokens;
  std::set<char> characters;
  for (int i = 0; i < 200; ++i) {
    std::string token = NewToken();
    EXPECT_THAT(token, MatchesRegex("assay-[a-z2-7]{32}"));
    characters.insert(token.begin() + 6, token.end());
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 200u);
  EXPECT_EQ(characters.size(), 32u);
}

TEST(TokenTest, HashIsSha256) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(HashToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(AgentIdTest, HasItsForm) {
  EXPECT_THAT(NewAgentId(), MatchesRegex("a-[a-z2-7]{16}"));
  EXPECT_NE(NewAgentId(), NewAgentId());
}

}  // namespace
}  // namespace assay::pki
