// What goes wrong with a database file, in the store's codes and in words for people.
#ifndef ASSAY_SERVER_STORE_FAILURES_H_
#define ASSAY_SERVER_STORE_FAILURES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace assay::store {

// `code`: a result code of SQLite, extended or not. `system_errno`: what the system said with it,
// or 0. `words`: SQLite's own.
absl::Status SqliteFailure(const std::string& path, int code, int system_errno,
                           absl::string_view words);

// A system call on `path` failed.
absl::Status SystemFailure(const std::string& path, int system_errno);

// DATA_LOSS.
absl::Status DamagedFailure(const std::string& path, absl::string_view what);

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_FAILURES_H_
