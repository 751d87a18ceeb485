// A spool file:
//
//   "assay-spool 1 " <payload bytes, decimal> " " <SHA-256 of the payload, 64 hex digits> "\n"
//   <payload: assay.v1.TaskResult, serialised>
//
// and nothing after it. The name is made from the result's own reference, so a file that was
// renamed or copied is noticed as well as one that was cut or changed.
#ifndef ASSAY_AGENT_SPOOL_FILE_FORMAT_H_
#define ASSAY_AGENT_SPOOL_FILE_FORMAT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/spool/task_key.h"
#include "assay/v1/agent.pb.h"

namespace assay::spool {

std::string EncodeFile(const v1::TaskResult& result);

// DATA_LOSS, saying what is wrong. `name`: that of the file.
absl::StatusOr<v1::TaskResult> DecodeFile(absl::string_view content, absl::string_view name);

// "<run>@<task>@<attempt>.result". Bytes of the run's name other than letters, digits, '-', '_' and
// (not first) '.' are written %XX; a name too long for a file system is replaced by its SHA-256.
std::string FileName(const TaskKey& key);

// Whether it ends in ".result".
bool IsResultFile(absl::string_view name);
// What FileName() gives followed by '.' and more: the temporary file of a write that never ended.
// Gives the name that it would have got, else "".
std::string FinalNameOf(absl::string_view temporary);

}  // namespace assay::spool

#endif  // ASSAY_AGENT_SPOOL_FILE_FORMAT_H_
