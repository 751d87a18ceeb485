#include "server/store/migrations.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/hash/sha256.h"

namespace assay::store {
namespace {

constexpr char kCreateRecord[] =
    "CREATE TABLE schema_migrations ("
    "number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT";

// A property of the file that cannot be set inside a transaction; a crash between it and the first
// migration leaves a file that is still blank.
absl::Status SwitchToWal(Connection& db) {
  ASSAY_ASSIGN_OR_RETURN(Statement statement, db.Query("PRAGMA journal_mode = WAL"));
  ASSAY_ASSIGN_OR_RETURN(bool row, statement.Next());
  std::string mode = row ? statement.TakeText() : "";
  if (mode == "wal") return absl::OkStatus();
  // A file system without shared memory, or a lock that somebody else holds.
  return Error(absl::StatusCode::kUnavailable, "store.no_wal",
               {{"path", db.path()}, {"mode", mode}});
}

absl::Status CheckApplied(Connection& db, absl::Span<const Migration> migrations, int64_t version) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement applied,
      db.Query("SELECT number, name, sha256 FROM schema_migrations ORDER BY number"));
  for (int64_t expected = 1;; ++expected) {
    ASSAY_ASSIGN_OR_RETURN(bool row, applied.Next());
    if (!row && expected == version + 1) return absl::OkStatus();
    int64_t number = row ? applied.TakeInt() : 0;
    if (number != expected || number > version) {
      return db.Damaged(absl::StrCat("schema ", version, " lacks its record of migrations"));
    }
    std::string name = applied.TakeText();
    if (applied.TakeText() != Sha256Hex(migrations[static_cast<size_t>(number - 1)].sql)) {
      return Error(absl::StatusCode::kFailedPrecondition, "store.migration_edited",
                   {{"path", db.path()}, {"number", absl::StrCat(number)}, {"name", name}});
    }
  }
}

absl::Status CheckForeignKeys(Connection& db, const Migration& migration) {
  ASSAY_ASSIGN_OR_RETURN(Statement violations, db.Query("PRAGMA foreign_key_check"));
  ASSAY_ASSIGN_OR_RETURN(bool any, violations.Next());
  if (!any) return absl::OkStatus();
  return Error(
      absl::StatusCode::kInternal, "store.internal",
      {{"path", db.path()},
       {"detail", absl::StrCat("migration ", migration.number, " leaves dangling references in ",
                               violations.TakeText())}});
}

absl::Status ApplyInTransaction(Connection& db, const Migration& migration) {
  if (migration.number == 1) {
    ASSAY_RETURN_IF_ERROR(db.Script(absl::StrCat("PRAGMA application_id = ", kApplicationId)));
    ASSAY_RETURN_IF_ERROR(db.Script(kCreateRecord));
  }
  ASSAY_RETURN_IF_ERROR(db.Script(migration.sql));
  ASSAY_RETURN_IF_ERROR(
      db.Run("INSERT INTO schema_migrations (number, name, sha256) VALUES (?1, ?2, ?3)",
             migration.number, migration.name, Sha256Hex(migration.sql)));
  ASSAY_RETURN_IF_ERROR(db.Script(absl::StrCat("PRAGMA user_version = ", migration.number)));
  ASSAY_RETURN_IF_ERROR(CheckForeignKeys(db, migration));
  return db.Script("COMMIT");
}

absl::Status Apply(Connection& db, const Migration& migration) {
  ASSAY_RETURN_IF_ERROR(db.Script("BEGIN IMMEDIATE"));
  absl::Status applied = ApplyInTransaction(db, migration);
  if (db.in_transaction()) db.Script("ROLLBACK").IgnoreError();
  return applied;
}

absl::Status ApplyMissing(Connection& db, absl::Span<const Migration> missing) {
  if (missing.empty()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(db.Script("PRAGMA foreign_keys = OFF"));
  for (const Migration& migration : missing) ASSAY_RETURN_IF_ERROR(Apply(db, migration));
  return db.Script("PRAGMA foreign_keys = ON");
}

}  // namespace

absl::Status Migrate(Connection& db, absl::Span<const Migration> migrations, bool may_be_new) {
  ASSAY_ASSIGN_OR_RETURN(int64_t application, db.QueryInt("PRAGMA application_id"));
  ASSAY_ASSIGN_OR_RETURN(int64_t version, db.QueryInt("PRAGMA user_version"));
  if (application != kApplicationId) {
    ASSAY_ASSIGN_OR_RETURN(int64_t objects, db.QueryInt("SELECT count(*) FROM sqlite_schema"));
    bool blank = application == 0 && version == 0 && objects == 0;
    if (!blank || !may_be_new) {
      return Error(absl::StatusCode::kFailedPrecondition, "store.not_assay", {{"path", db.path()}});
    }
  }
  if (version > static_cast<int64_t>(migrations.size())) {
    return Error(absl::StatusCode::kFailedPrecondition, "store.newer",
                 {{"path", db.path()},
                  {"found", absl::StrCat(version)},
                  {"known", absl::StrCat(migrations.size())}});
  }
  if (application == kApplicationId) {
    if (version < 1) return db.Damaged(absl::StrCat("schema ", version));
    ASSAY_RETURN_IF_ERROR(CheckApplied(db, migrations, version));
  }
  // Only now that the file is known to be ours.
  ASSAY_RETURN_IF_ERROR(SwitchToWal(db));
  return ApplyMissing(db, migrations.subspan(static_cast<size_t>(version)));
}

}  // namespace assay::store
