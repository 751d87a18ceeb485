// A coordinator's CA and identities for tests, and OpenSSL's own command as an independent reader.
#ifndef ASSAY_TESTS_COMMON_TLS_TEST_PKI_H_
#define ASSAY_TESTS_COMMON_TLS_TEST_PKI_H_

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/tls/identity.h"
#include "server/pki/authority.h"

namespace assay::testing {

// A directory that is removed with its content.
class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What a command prints, both streams together; `status_out` gets its exit status.
inline std::string Output(const std::string& command, int* status_out = nullptr) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  int status = pclose(pipe);
  if (status_out != nullptr) *status_out = status;
  return output;
}

inline std::string WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A CA that is a hundred days old.
class TestCa {
 public:
  explicit TestCa(const std::string& name = "lab") {
    absl::Status created =
        pki::Authority::Create(directory_.path(), name, absl::Now() - absl::Hours(2400));
    if (!created.ok()) ADD_FAILURE() << created;
    authority_ = *pki::Authority::Load(directory_.path());
  }

  pki::Authority& authority() { return *authority_; }

  tls::Identity Agent(const std::string& id, absl::Time issued = absl::Now(),
                      absl::Duration lifetime = absl::Hours(24)) {
    store::Subject subject = {v1::SUBJECT_KIND_VANTAGE, "sz-office", v1::ROLE_UNSPECIFIED};
    tls::Identity identity;
    identity.key_pem = *tls::GenerateKey();
    auto leaf = authority_->Issue(*tls::MakeCsr(identity.key_pem), subject, id, issued, lifetime);
    if (!leaf.ok()) ADD_FAILURE() << leaf.status();
    identity.chain_pem = leaf->chain_pem;
    identity.ca_pem = authority_->ca_pem();
    return identity;
  }

  tls::Identity Serving(std::vector<std::string> names = {"localhost", "127.0.0.1", "::1",
                                                          "coordinator.test"},
                        absl::Time issued = absl::Now(),
                        absl::Duration lifetime = absl::Hours(48)) {
    auto identity = authority_->IssueServing(names, issued, lifetime);
    if (!identity.ok()) ADD_FAILURE() << identity.status();
    return *std::move(identity);
  }

 private:
  TestDirectory directory_;
  std::unique_ptr<pki::Authority> authority_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_COMMON_TLS_TEST_PKI_H_
