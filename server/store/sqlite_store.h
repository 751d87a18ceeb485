// The store in one SQLite file: WAL, synchronous=FULL, STRICT tables, foreign keys. One writer
// thread owns the writing connection and commits what is queued together; readers have their own.
#ifndef ASSAY_SERVER_STORE_SQLITE_STORE_H_
#define ASSAY_SERVER_STORE_SQLITE_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/store/store.h"

namespace assay::store {

struct SqliteOptions {
  std::string path;
  bool create = false;  // `assayd init`; otherwise a missing file is NOT_FOUND
};

// Opens and migrates. Messages store.*: missing, read-only, full, locked by another process, not a
// database, newer than this binary, a migration that was edited after it was applied.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const SqliteOptions& options);

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_SQLITE_STORE_H_
