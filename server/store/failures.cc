#include "server/store/failures.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"

namespace assay::store {
namespace {

absl::Status Full(const std::string& path) {
  return Error(absl::StatusCode::kResourceExhausted, "store.full", {{"path", path}});
}

absl::Status ReadOnly(const std::string& path, absl::string_view detail) {
  return Error(absl::StatusCode::kUnavailable, "store.read_only",
               {{"path", path}, {"detail", std::string(detail)}});
}

absl::Status InputOutput(const std::string& path, absl::string_view detail) {
  return Error(absl::StatusCode::kUnavailable, "store.io_error",
               {{"path", path}, {"detail", std::string(detail)}});
}

absl::Status Constraint(const std::string& path, int code, absl::string_view detail) {
  absl::StatusCode status = absl::StatusCode::kInternal;
  if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ||
      code == SQLITE_CONSTRAINT_ROWID) {
    status = absl::StatusCode::kAlreadyExists;
  }
  if (code == SQLITE_CONSTRAINT_FOREIGNKEY) status = absl::StatusCode::kFailedPrecondition;
  return Error(status, "store.internal", {{"path", path}, {"detail", std::string(detail)}});
}

bool MeansFull(int system_errno) { return system_errno == ENOSPC || system_errno == EDQUOT; }

bool MeansReadOnly(int system_errno) {
  return system_errno == EROFS || system_errno == EACCES || system_errno == EPERM;
}

}  // namespace

absl::Status SqliteFailure(const std::string& path, int code, int system_errno,
                           absl::string_view words) {
  std::string detail = absl::StrCat(words, " (SQLite ", code, ")");
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Full(path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      if (code == SQLITE_IOERR_CORRUPTFS) return DamagedFailure(path, detail);
      if (system_errno != 0) absl::StrAppend(&detail, ": ", std::strerror(system_errno));
      if (MeansFull(system_errno)) return Full(path);
      if (MeansReadOnly(system_errno)) return ReadOnly(path, std::strerror(system_errno));
      return InputOutput(path, detail);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return ReadOnly(path, detail);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return Error(absl::StatusCode::kUnavailable, "store.busy", {{"path", path}});
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DamagedFailure(path, detail);
    case SQLITE_NOMEM:
      return Error(absl::StatusCode::kResourceExhausted, "store.no_memory", {{"path", path}});
    case SQLITE_CONSTRAINT:
      return Constraint(path, code, detail);
    default:
      return Error(absl::StatusCode::kInternal, "store.internal",
                   {{"path", path}, {"detail", detail}});
  }
}

absl::Status SystemFailure(const std::string& path, int system_errno) {
  if (MeansFull(system_errno)) return Full(path);
  if (MeansReadOnly(system_errno)) return ReadOnly(path, std::strerror(system_errno));
  if (system_errno == ENOENT || system_errno == ENOTDIR) {
    return Error(absl::StatusCode::kNotFound, "store.no_directory",
                 {{"path", path}, {"detail", std::strerror(system_errno)}});
  }
  return InputOutput(path, std::strerror(system_errno));
}

absl::Status DamagedFailure(const std::string& path, absl::string_view what) {
  return Error(absl::StatusCode::kDataLoss, "store.corrupt",
               {{"path", path}, {"detail", std::string(what)}});
}

}  // namespace assay::store
