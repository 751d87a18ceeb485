// The store in one SQLite file: WAL, synchronous=FULL, STRICT tables, foreign keys. One writer
// thread owns the writing connection and commits what is queued together; readers have their own.
#ifndef ASSAY_SERVER_STORE_SQLITE_STORE_H_
#define ASSAY_SERVER_STORE_SQLITE_STORE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/store/store.h"

namespace assay::store {

struct SqliteOptions {
  std::string path;
  bool create = false;  // `assayd init`; otherwise a missing file is NOT_FOUND

  // Beyond these, AppendResultAsync refuses with RESOURCE_EXHAUSTED: results waiting for the
  // writer, and what they hold in memory (one result may be larger when it is alone).
  size_t queue_requests = 4096;
  size_t queue_bytes = 64 << 20;
  // How long to wait for another program that holds a lock on the database (a shell, a backup).
  absl::Duration busy_timeout = absl::Seconds(5);
  // Pages of write-ahead log after which it is copied into the database.
  int checkpoint_frames = 1000;
  // SQLite's file layer; empty: the default. For tests that inject faults.
  std::string vfs;
};

// Opens and migrates; holds PATH.lock while open, so that two coordinators never share a database.
// A file that is created has mode 0600; where it cannot be completed it is removed again. With
// `create` a database that is there already is opened as without. Closing commits what is queued.
//
// Errors, messages store.*: NOT_FOUND (missing; no such directory), UNAVAILABLE (read-only, in use
// by another coordinator, locked by another program, I/O error), RESOURCE_EXHAUSTED (full),
// DATA_LOSS (damaged, not a database at all), FAILED_PRECONDITION (another program's database,
// newer than this binary, a migration that was edited after it was applied).
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const SqliteOptions& options);

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_SQLITE_STORE_H_
