#include "server/store/verdicts.h"

#include "common/base/proto_time.h"

namespace assay::store::verdicts {
namespace {

// The newest verdict's row where it says the same, or 0.
absl::StatusOr<int64_t> SameAsNewest(Connection& db, const v1::Verdict& verdict) {
  if (verdict.digest().empty()) return 0;
  ASSAY_ASSIGN_OR_RETURN(
      Statement newest,
      db.Query("SELECT number, digest FROM verdicts WHERE server = ?1 AND run = ?2 "
               "ORDER BY number DESC LIMIT 1",
               verdict.server(), verdict.run()));
  ASSAY_ASSIGN_OR_RETURN(bool row, newest.Next());
  if (!row) return 0;
  int64_t number = newest.TakeInt();
  return newest.TakeText() == verdict.digest() ? number : 0;
}

}  // namespace

absl::Status Put(Connection& db, const v1::Verdict& verdict) {
  ASSAY_ASSIGN_OR_RETURN(int64_t same, SameAsNewest(db, verdict));
  ASSAY_RETURN_IF_ERROR(db.Run("DELETE FROM verdicts WHERE number = ?1", same));
  return db.Run(
      "INSERT INTO verdicts (server, run, digest, evaluated_at_us, verdict) "
      "VALUES (?1, ?2, ?3, ?4, ?5)",
      verdict.server(), verdict.run(), verdict.digest(), FromProto(verdict.evaluated_at()),
      Blob{verdict.SerializeAsString()});
}

absl::StatusOr<std::vector<v1::Verdict>> List(Connection& db, absl::string_view server,
                                              uint32_t limit) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      db.Query("SELECT verdict FROM verdicts WHERE server = ?1 ORDER BY number DESC LIMIT ?2",
               server, limit));
  std::vector<v1::Verdict> verdicts;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return verdicts;
    ASSAY_RETURN_IF_ERROR(rows.TakeMessage(verdicts.emplace_back()));
  }
}

}  // namespace assay::store::verdicts
