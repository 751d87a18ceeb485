// The parts of Check(), for the files that share the work. Not for use outside this folder.
#ifndef ASSAY_CORE_DOCUMENT_CHECKER_H_
#define ASSAY_CORE_DOCUMENT_CHECKER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"
#include "common/base/message.h"
#include "core/document/check.h"
#include "google/protobuf/message.h"

namespace assay::document {

// Where errors go: knows the place of a path.
class Checker {
 public:
  explicit Checker(const Locate& locate) : locate_(locate) {}

  absl::Status Fail(const std::string& path, absl::string_view id, MessageArgs args = {}) const;

  // `status` with its place, or OK.
  absl::Status At(const std::string& path, const absl::Status& status) const;

  absl::Status Name(const std::string& path, const std::string& name) const;
  absl::Status Host(const std::string& path, const std::string& host) const;
  absl::Status Range(const std::string& path, uint64_t value, uint64_t least, uint64_t most) const;
  absl::Status Zone(const std::string& path, const std::string& zone) const;

 private:
  const Locate& locate_;
};

// What options.proto and the types say: check_schema.cc.
absl::Status CheckSchema(const Checker& checker, const google::protobuf::Message& message,
                         const std::string& path);

absl::Status CheckServer(const Checker& checker, const v1::Server& server);
absl::Status CheckVantage(const Checker& checker, const v1::Vantage& vantage);
absl::Status CheckWindows(const Checker& checker, const v1::Plan& plan);
absl::Status CheckProbes(const Checker& checker, const v1::Plan& plan);

// `plan` is where the criteria's names must exist; nullptr for those of a profile.
absl::Status CheckCriteria(const Checker& checker,
                           const google::protobuf::RepeatedPtrField<v1::Criterion>& criteria,
                           const v1::Plan* plan);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_CHECKER_H_
