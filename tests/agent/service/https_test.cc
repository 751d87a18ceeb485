// Against nginx: HTTP, HTTPS, and certificates that are right, expired, and somebody else's.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/files/files.h"
#include "nlohmann/json.hpp"
#include "tests/agent/service/probe_harness.h"
#include "tests/agent/service/tiny_server.h"

namespace assay::agent::service {
namespace {

using ::testing::HasSubstr;

struct Certificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> x509;
};

// Signed by `issuer`, or by itself where that is null. Times are seconds from now.
Certificate MakeCertificate(const char* name, const char* alternatives, long from_s, long until_s,
                            const Certificate* issuer) {
  Certificate made;
  made.key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  made.x509.reset(X509_new(), X509_free);
  X509* x = made.x509.get();
  static long serial = 1000;
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x), from_s);
  X509_gmtime_adj(X509_getm_notAfter(x), until_s);
  X509_set_pubkey(x, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  const Certificate& signer = issuer == nullptr ? made : *issuer;
  X509_set_issuer_name(x, X509_get_subject_name(signer.x509.get()));
  X509V3_CTX context;
  X509V3_set_ctx(&context, signer.x509.get(), x, nullptr, nullptr, 0);
  auto extend = [&](int nid, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  };
  if (issuer == nullptr) extend(NID_basic_constraints, "critical,CA:TRUE");
  if (alternatives != nullptr) extend(NID_subject_alt_name, alternatives);
  X509_sign(x, signer.key.get(), EVP_sha256());
  return made;
}

void WritePem(const std::string& path, const Certificate& certificate) {
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  PEM_write_X509(file, certificate.x509.get());
  PEM_write_PrivateKey(file, certificate.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  fclose(file);
}

uint16_t FreePort() {
  return TinyServer([](const TinyServer::Connection&) {}).port();
}

constexpr long kDay = 86400;

// One nginx for all tests of this file.
class HttpsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    char pattern[] = "/tmp/assay-nginx-XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    directory_ = pattern;
    chmod(pattern, 0755);
    Certificate ca = MakeCertificate("Assay test CA", nullptr, -kDay, 30 * kDay, nullptr);
    WritePem(Path("ca.pem"), ca);
    WritePem(Path("good.pem"),
             MakeCertificate("gpu.test", "DNS:gpu.test,IP:127.0.0.1", -kDay, 10 * kDay, &ca));
    WritePem(Path("expired.pem"),
             MakeCertificate("gpu.test", "DNS:gpu.test,IP:127.0.0.1", -10 * kDay, -2 * kDay, &ca));
    WritePem(Path("other.pem"),
             MakeCertificate("other.test", "DNS:other.test", -kDay, 10 * kDay, &ca));
    std::ofstream(Path("data")) << std::string(300000, 'd');
    for (uint16_t* port : {&http_, &good_, &expired_, &other_}) *port = FreePort();
    std::ofstream(Path("nginx.conf")) << Configuration();
    Start();
  }

  static void TearDownTestSuite() {
    if (nginx_ > 0) {
      kill(nginx_, SIGTERM);
      waitpid(nginx_, nullptr, 0);
    }
    std::filesystem::remove_all(directory_);
  }

  void SetUp() override { setenv("SSL_CERT_FILE", Path("ca.pem").c_str(), 1); }

  static std::string Path(const char* name) { return absl::StrCat(directory_, "/", name); }

  static std::string Configuration() {
    std::string text =
        "daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;\n"
        "events {}\n"
        "http { access_log off; client_body_temp_path DIR/b; proxy_temp_path DIR/p;\n"
        "fastcgi_temp_path DIR/f; uwsgi_temp_path DIR/u; scgi_temp_path DIR/s; root DIR;\n"
        "server { listen 127.0.0.1:HTTP; }\n";
    for (const auto& [port, name] :
         {std::pair(good_, "good"), std::pair(expired_, "expired"), std::pair(other_, "other")}) {
      absl::StrAppend(&text, "server { listen 127.0.0.1:", port, " ssl http2; ssl_certificate DIR/",
                      name, ".pem; ssl_certificate_key DIR/", name, ".pem; }\n");
    }
    return absl::StrReplaceAll(text + "}\n", {{"DIR", directory_}, {"HTTP", absl::StrCat(http_)}});
  }

  static void Start() {
    nginx_ = fork();
    if (nginx_ == 0) {
      int null = open("/dev/null", O_RDWR);
      dup2(null, 1);
      dup2(null, 2);
      execlp("nginx", "nginx", "-p", directory_.c_str(), "-c", Path("nginx.conf").c_str(),
             static_cast<char*>(nullptr));
      _exit(127);
    }
    for (int attempt = 0; attempt < 1000; ++attempt) {  // until it listens
      int fd = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(other_);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      bool up = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
      close(fd);
      if (up) return;
      ASSERT_EQ(waitpid(nginx_, nullptr, WNOHANG), 0) << "nginx ended";
      usleep(10000);
    }
    FAIL() << "nginx does not listen";
  }

  static ProbeRequest Https(uint16_t port) {
    ProbeRequest request = HttpTo("127.0.0.1", port);
    request.probe.mutable_http()->set_scheme("https");
    request.probe.mutable_http()->set_path("/data");
    return request;
  }

  CleanEnvironment clean_;
  static std::string directory_;
  static uint16_t http_, good_, expired_, other_;
  static pid_t nginx_;
};

std::string HttpsTest::directory_;
uint16_t HttpsTest::http_, HttpsTest::good_, HttpsTest::expired_, HttpsTest::other_;
pid_t HttpsTest::nginx_ = -1;

TEST_F(HttpsTest, PlainHttp) {
  ProbeRequest request = HttpTo("127.0.0.1", http_);
  request.probe.mutable_http()->set_path("/data");
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_OK) << sample.error();
  EXPECT_EQ(sample.body_bytes(), 300000u);
}

TEST_F(HttpsTest, AGoodCertificate) {
  ProbeRequest request = Https(good_);
  request.probe.mutable_http()->set_count(3);
  v1::HttpEvidence evidence = EvidenceOf(RunHttp(request));
  ASSERT_EQ(evidence.samples_size(), 3);
  for (const v1::HttpSample& sample : evidence.samples()) {
    EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_OK) << sample.error();
    EXPECT_GT(sample.tls_ns(), sample.connect_ns());
    EXPECT_GE(sample.first_byte_ns(), sample.tls_ns());
    EXPECT_EQ(sample.body_bytes(), 300000u);
  }
  EXPECT_NEAR(static_cast<double>(evidence.certificate_not_after_s()),
              static_cast<double>(time(nullptr) + 10 * kDay), 600);
  EXPECT_FALSE(evidence.certificate_unchecked());
}

TEST_F(HttpsTest, TheHostNameIsWhatIsCheckedAndSent) {
  ProbeRequest request = Https(good_);
  request.probe.mutable_http()->set_host_name("gpu.test");
  EXPECT_EQ(OnlySample(request).outcome(), v1::HTTP_OUTCOME_OK);
  request.probe.mutable_http()->set_host_name("wrong.test");
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_TLS);
  EXPECT_THAT(sample.error(), HasSubstr("wrong.test"));
}

TEST_F(HttpsTest, AnotherHostsCertificate) {
  v1::HttpSample sample = OnlySample(Https(other_));
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_TLS);
  EXPECT_THAT(sample.error(), HasSubstr("127.0.0.1"));
  EXPECT_GT(sample.connect_ns(), 0);
  EXPECT_EQ(sample.status(), 0u);
}

TEST_F(HttpsTest, AnExpiredCertificateSaysWhenItEnded) {
  v1::HttpEvidence evidence = EvidenceOf(RunHttp(Https(expired_)));
  ASSERT_EQ(evidence.samples_size(), 1);
  EXPECT_EQ(evidence.samples(0).outcome(), v1::HTTP_OUTCOME_TLS);
  EXPECT_THAT(evidence.samples(0).error(), HasSubstr("expired"));
  EXPECT_NEAR(static_cast<double>(evidence.certificate_not_after_s()),
              static_cast<double>(time(nullptr) - 2 * kDay), 600);
}

TEST_F(HttpsTest, AnUnknownAuthority) {
  setenv("SSL_CERT_FILE", Path("other.pem").c_str(), 1);
  EXPECT_EQ(OnlySample(Https(good_)).outcome(), v1::HTTP_OUTCOME_TLS);
  unsetenv("SSL_CERT_FILE");  // the system's store
  EXPECT_EQ(OnlySample(Https(good_)).outcome(), v1::HTTP_OUTCOME_TLS);
}

TEST_F(HttpsTest, InsecureAcceptsAnyCertificateAndSaysSo) {
  unsetenv("SSL_CERT_FILE");
  for (uint16_t port : {good_, expired_, other_}) {
    ProbeRequest request = Https(port);
    request.probe.mutable_http()->set_insecure(true);
    v1::Result result = RunHttp(request);
    v1::HttpEvidence evidence = EvidenceOf(result);
    EXPECT_EQ(evidence.samples(0).outcome(), v1::HTTP_OUTCOME_OK) << evidence.samples(0).error();
    EXPECT_TRUE(evidence.certificate_unchecked());
    EXPECT_NE(evidence.certificate_not_after_s(), 0);
    ASSERT_EQ(result.notes_size(), 1);
    EXPECT_EQ(result.notes(0).id(), "probe.certificate_unchecked");
  }
}

TEST_F(HttpsTest, AStoreThatCannotBeReadIsNoFaultOfTheServer) {
  setenv("SSL_CERT_FILE", Path("missing.pem").c_str(), 1);
  v1::Result result = RunHttp(Https(good_));
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.certificate_store");
}

TEST_F(HttpsTest, AnHttpsProbeOfAnHttpPort) {
  EXPECT_EQ(OnlySample(Https(http_)).outcome(), v1::HTTP_OUTCOME_TLS);
}

// The curl command is the independent word on which phases a transfer has, in which order and with
// which size and status; loopback durations themselves are noise.
TEST_F(HttpsTest, AgreesWithTheCurlCommand) {
  std::string command = absl::StrCat("curl -s -o /dev/null --http2 --cacert ", Path("ca.pem"),
                                     " -w '%{json}' https://127.0.0.1:", good_, "/data");
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, got);
  ASSERT_EQ(pclose(pipe), 0);
  nlohmann::json curl = nlohmann::json::parse(output);
  v1::HttpSample sample = OnlySample(Https(good_));
  EXPECT_EQ(sample.status(), curl["response_code"].get<uint32_t>());
  EXPECT_EQ(sample.body_bytes(), curl["size_download"].get<uint64_t>());
  const std::pair<const char*, int64_t> phases[] = {{"time_namelookup", sample.name_lookup_ns()},
                                                    {"time_connect", sample.connect_ns()},
                                                    {"time_appconnect", sample.tls_ns()},
                                                    {"time_starttransfer", sample.first_byte_ns()},
                                                    {"time_total", sample.total_ns()}};
  double before_curl = 0;
  int64_t before_ours = 0;
  for (const auto& [name, ours_ns] : phases) {
    EXPECT_GE(curl[name].get<double>(), before_curl) << name;
    EXPECT_GE(ours_ns, before_ours) << name;
    before_curl = curl[name].get<double>();
    before_ours = ours_ns;
    printf("%s: %.3f ms by curl, %.3f ms by the probe\n", name, curl[name].get<double>() * 1e3,
           static_cast<double>(ours_ns) / 1e6);
  }
}

}  // namespace
}  // namespace assay::agent::service
