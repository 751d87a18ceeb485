// Results for tests of the spool and the session.
#ifndef ASSAY_TESTS_AGENT_SPOOL_RESULTS_H_
#define ASSAY_TESTS_AGENT_SPOOL_RESULTS_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/spool/task_key.h"
#include "assay/v1/agent.pb.h"

namespace assay::testing {

inline v1::TaskResult MakeResult(const spool::TaskKey& key, const std::string& evidence = "e") {
  v1::TaskResult result;
  *result.mutable_ref() = key.ToRef();
  result.mutable_result()->set_outcome(v1::OUTCOME_OK);
  result.mutable_result()->set_evidence_zstd(evidence);
  return result;
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void WriteFile(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_SPOOL_RESULTS_H_
