#include "server/store/results.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "server/store/metrics.h"

namespace assay::store::results {
namespace {

constexpr char kSelect[] =
    "SELECT results.id, runs.id, results.task, results.attempt, results.server, results.vantage, "
    "results.probe, results.window_name, results.agent_id, results.received_at_us, "
    "results.result, results.evidence_sha256 FROM results CROSS JOIN runs "
    "ON runs.number = results.run_number ";

// The task that a result is for.
struct Target {
  int64_t run_number = 0;
  v1::TaskState state = v1::TASK_STATE_UNSPECIFIED;
  int64_t result_id = 0;  // that it has already; 0: none
};

absl::StatusOr<std::optional<Target>> FindTarget(Connection& db, const v1::TaskRef& ref) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement found,
      db.Query("SELECT tasks.run_number, tasks.state, results.id FROM tasks LEFT JOIN results "
               "ON results.run_number = tasks.run_number AND results.task = tasks.task "
               "WHERE tasks.run_number = (SELECT number FROM runs WHERE id = ?1) "
               "AND tasks.task = ?2",
               ref.run(), ref.task()));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (!row) return std::nullopt;
  Target target;
  target.run_number = found.TakeInt();
  target.state = found.TakeEnum<v1::TaskState>();
  target.result_id = found.TakeInt();  // NULL reads as 0
  return target;
}

absl::Status EndTask(Connection& db, const Target& target, const NewResult& result) {
  bool done = result.result.outcome() == v1::OUTCOME_OK;
  return db.Run("UPDATE tasks SET state = ?3, reason = ?4 WHERE run_number = ?1 AND task = ?2",
                target.run_number, result.ref.task(),
                done ? v1::TASK_STATE_DONE : v1::TASK_STATE_FAILED,
                Blob{done ? std::string() : result.result.reason().SerializeAsString()});
}

absl::StatusOr<v1::StoredResult> Take(Connection& db, Statement& row, bool with_evidence) {
  v1::StoredResult stored;
  stored.set_id(row.TakeInt());
  stored.mutable_ref()->set_run(row.TakeText());
  stored.mutable_ref()->set_task(static_cast<uint32_t>(row.TakeInt()));
  stored.mutable_ref()->set_attempt(static_cast<uint32_t>(row.TakeInt()));
  stored.set_server(row.TakeText());
  stored.set_vantage(row.TakeText());
  stored.set_probe(row.TakeText());
  stored.set_window(row.TakeText());
  stored.set_agent_id(row.TakeText());
  *stored.mutable_received_at() = ToProto(row.TakeTime());
  ASSAY_RETURN_IF_ERROR(row.TakeMessage(*stored.mutable_result()));
  stored.set_evidence_sha256(row.TakeText());
  ASSAY_RETURN_IF_ERROR(metrics::Take(db, stored.id(), *stored.mutable_metrics()));
  if (!with_evidence) return stored;

  ASSAY_ASSIGN_OR_RETURN(
      Statement evidence,
      db.Query("SELECT evidence_zstd FROM evidence WHERE result_id = ?1", stored.id()));
  ASSAY_ASSIGN_OR_RETURN(bool has_evidence, evidence.Next());
  if (has_evidence) {
    absl::string_view bytes = evidence.TakeOptionalBlob().value_or("");
    stored.mutable_result()->set_evidence_zstd(bytes.data(), bytes.size());
  }
  return stored;
}

}  // namespace

absl::StatusOr<AppendResult> Append(Connection& db, NewResult& result) {
  ASSAY_ASSIGN_OR_RETURN(std::optional<Target> target, FindTarget(db, result.ref));
  if (!target.has_value()) return AppendResult{AppendOutcome::kNotWanted, 0};
  if (target->result_id != 0) return AppendResult{AppendOutcome::kDuplicate, target->result_id};
  // A lease that was given back while the agent kept the result leaves the task pending.
  if (target->state != v1::TASK_STATE_LEASED && target->state != v1::TASK_STATE_PENDING) {
    return AppendResult{AppendOutcome::kNotWanted, 0};
  }

  std::string evidence = std::move(*result.result.mutable_evidence_zstd());
  result.result.clear_evidence_zstd();
  ASSAY_RETURN_IF_ERROR(
      db.Run("INSERT INTO results (run_number, task, attempt, server, vantage, probe, window_name, "
             "agent_id, received_at_us, result, evidence_sha256) "
             "SELECT run_number, task, ?3, server, vantage, probe, window_name, ?4, ?5, ?6, ?7 "
             "FROM tasks WHERE run_number = ?1 AND task = ?2",
             target->run_number, result.ref.task(), result.ref.attempt(), result.agent_id,
             result.received_at, Blob{result.result.SerializeAsString()}, result.evidence_sha256));
  int64_t id = db.last_insert_id();
  if (!evidence.empty()) {
    ASSAY_RETURN_IF_ERROR(db.Run("INSERT INTO evidence (result_id, evidence_zstd) VALUES (?1, ?2)",
                                 id, Blob{evidence}));
  }
  ASSAY_RETURN_IF_ERROR(metrics::Insert(db, id, result.metrics));
  ASSAY_RETURN_IF_ERROR(EndTask(db, *target, result));
  return AppendResult{AppendOutcome::kStored, id};
}

absl::StatusOr<std::vector<v1::StoredResult>> List(Connection& db, const ResultFilter& filter) {
  // One text for each combination, so that each has the index it needs. A run narrows most: "+"
  // keeps the planner from the other indices, which hold every run of a server.
  bool by_run = !filter.run.empty();
  std::string sql = absl::StrCat(
      kSelect, "WHERE 1 = 1 ",
      by_run ? "AND results.run_number = (SELECT number FROM runs WHERE id = ?1) " : "",
      filter.server.empty() ? ""
                            : (by_run ? "AND +results.server = ?2 " : "AND results.server = ?2 "),
      filter.vantage.empty()
          ? ""
          : (by_run ? "AND +results.vantage = ?3 " : "AND results.vantage = ?3 "),
      filter.before_id == 0 ? "" : "AND results.id < ?4 ", "ORDER BY results.id DESC LIMIT ?5");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, db.Query(sql, filter.run, filter.server, filter.vantage,
                                                  filter.before_id, filter.limit));
  std::vector<v1::StoredResult> results;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return results;
    ASSAY_ASSIGN_OR_RETURN(results.emplace_back(), Take(db, rows, filter.with_evidence));
  }
}

absl::StatusOr<v1::StoredResult> Get(Connection& db, int64_t id) {
  ASSAY_ASSIGN_OR_RETURN(Statement found,
                         db.Query(absl::StrCat(kSelect, "WHERE results.id = ?1"), id));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (!row) {
    return Error(absl::StatusCode::kNotFound, "server.unknown_result", {{"id", absl::StrCat(id)}});
  }
  return Take(db, found, /*with_evidence=*/true);
}

}  // namespace assay::store::results
