#include "server/store/runs.h"

#include <string>
#include <utility>

#include "common/base/message.h"

namespace assay::store::runs {
namespace {

// The columns of a run, in the order in which TakeRun() takes them.
#define ASSAY_RUN_COLUMNS                                                   \
  "number, id, plan, seed, started_by, state, started_at_us, ended_at_us, " \
  "planned_end_at_us"

absl::Status UnknownRun(absl::string_view id) {
  return Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", std::string(id)}});
}

// Messages of a run's table, in their order.
template <typename Message>
absl::Status TakeParts(Connection& db, absl::string_view sql, int64_t run_number,
                       std::vector<Message>& parts) {
  ASSAY_ASSIGN_OR_RETURN(Statement rows, db.Query(sql, run_number));
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return absl::OkStatus();
    ASSAY_RETURN_IF_ERROR(rows.TakeMessage(parts.emplace_back()));
  }
}

absl::StatusOr<RunRecord> TakeRun(Connection& db, Statement& row) {
  RunRecord run;
  int64_t number = row.TakeInt();
  run.id = row.TakeText();
  ASSAY_RETURN_IF_ERROR(row.TakeMessage(run.plan));
  run.seed = static_cast<uint64_t>(row.TakeInt());
  run.started_by = row.TakeText();
  run.state = row.TakeEnum<v1::RunState>();
  run.started_at = row.TakeTime();
  run.ended_at = row.TakeOptionalTime();
  run.planned_end_at = row.TakeTime();
  ASSAY_RETURN_IF_ERROR(
      TakeParts(db, "SELECT server FROM run_servers WHERE run_number = ?1 ORDER BY position",
                number, run.servers));
  ASSAY_RETURN_IF_ERROR(
      TakeParts(db, "SELECT vantage FROM run_vantages WHERE run_number = ?1 ORDER BY position",
                number, run.vantages));
  ASSAY_RETURN_IF_ERROR(
      TakeParts(db, "SELECT criterion FROM run_criteria WHERE run_number = ?1 ORDER BY position",
                number, run.criteria));
  return run;
}

absl::StatusOr<std::vector<RunRecord>> TakeRuns(Connection& db, Statement rows) {
  std::vector<RunRecord> runs;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return runs;
    ASSAY_ASSIGN_OR_RETURN(runs.emplace_back(), TakeRun(db, rows));
  }
}

absl::Status InsertParts(Connection& db, const RunRecord& run, int64_t number) {
  int64_t position = 0;
  for (const v1::Server& server : run.servers) {
    ASSAY_RETURN_IF_ERROR(
        db.Run("INSERT INTO run_servers (run_number, position, name, server) "
               "VALUES (?1, ?2, ?3, ?4)",
               number, position++, server.name(), Blob{server.SerializeAsString()}));
  }
  position = 0;
  for (const v1::Vantage& vantage : run.vantages) {
    ASSAY_RETURN_IF_ERROR(
        db.Run("INSERT INTO run_vantages (run_number, position, vantage) VALUES (?1, ?2, ?3)",
               number, position++, Blob{vantage.SerializeAsString()}));
  }
  position = 0;
  for (const v1::Criterion& criterion : run.criteria) {
    ASSAY_RETURN_IF_ERROR(
        db.Run("INSERT INTO run_criteria (run_number, position, criterion) VALUES (?1, ?2, ?3)",
               number, position++, Blob{criterion.SerializeAsString()}));
  }
  return absl::OkStatus();
}

absl::Status InsertTask(Connection& db, const TaskRecord& task, int64_t run_number) {
  return db.Run(
      "INSERT INTO tasks (run_number, task, server, vantage, probe, window_name, day, due_at_us, "
      "window_end_at_us, time_limit_us, state, attempt, agent_id, reason) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
      run_number, task.index, task.server, task.vantage, task.probe, task.window,
      absl::FormatCivilTime(task.day), task.due, task.window_end,
      absl::ToInt64Microseconds(task.time_limit), task.state, task.attempt, task.agent_id,
      Blob{task.reason.SerializeAsString()});
}

absl::Status TakeTask(Connection& db, Statement& row, TaskRecord& task) {
  task.index = static_cast<uint32_t>(row.TakeInt());
  task.server = row.TakeText();
  task.vantage = row.TakeText();
  task.probe = row.TakeText();
  task.window = row.TakeText();
  std::string day = row.TakeText();
  if (!absl::ParseCivilTime(day, &task.day)) return db.Damaged("a task's day is not readable");
  task.due = row.TakeTime();
  task.window_end = row.TakeTime();
  task.time_limit = absl::Microseconds(row.TakeInt());
  task.state = row.TakeEnum<v1::TaskState>();
  task.attempt = static_cast<uint32_t>(row.TakeInt());
  task.agent_id = row.TakeText();
  ASSAY_RETURN_IF_ERROR(row.TakeMessage(task.reason));
  task.result_id = row.TakeInt();  // NULL reads as 0
  return absl::OkStatus();
}

absl::StatusOr<int64_t> NumberOf(Connection& db, absl::string_view id) {
  ASSAY_ASSIGN_OR_RETURN(Statement found, db.Query("SELECT number FROM runs WHERE id = ?1", id));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (!row) return UnknownRun(id);
  return found.TakeInt();
}

// Adds `count` tasks of a state, if it is one that this version knows.
void Add(v1::TaskCounts& counts, v1::TaskState state, uint32_t count) {
  counts.set_total(counts.total() + count);
  switch (state) {
    case v1::TASK_STATE_PENDING:
      counts.set_pending(count);
      break;
    case v1::TASK_STATE_LEASED:
      counts.set_leased(count);
      break;
    case v1::TASK_STATE_DONE:
      counts.set_done(count);
      break;
    case v1::TASK_STATE_FAILED:
      counts.set_failed(count);
      break;
    case v1::TASK_STATE_MISSED:
      counts.set_missed(count);
      break;
    case v1::TASK_STATE_CANCELLED:
      counts.set_cancelled(count);
      break;
    default:
      break;
  }
}

}  // namespace

absl::Status Insert(Connection& db, const RunRecord& run, const std::vector<TaskRecord>& tasks) {
  absl::Status inserted = db.Run(
      "INSERT INTO runs (id, plan_name, plan, seed, started_by, state, started_at_us, "
      "ended_at_us, planned_end_at_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
      run.id, run.plan.name(), Blob{run.plan.SerializeAsString()}, run.seed, run.started_by,
      run.state, run.started_at, run.ended_at, run.planned_end_at);
  if (absl::IsAlreadyExists(inserted)) {
    return Error(absl::StatusCode::kAlreadyExists, "store.run_exists", {{"run", run.id}});
  }
  ASSAY_RETURN_IF_ERROR(inserted);
  int64_t number = db.last_insert_id();
  ASSAY_RETURN_IF_ERROR(InsertParts(db, run, number));
  for (const TaskRecord& task : tasks) ASSAY_RETURN_IF_ERROR(InsertTask(db, task, number));
  return absl::OkStatus();
}

absl::StatusOr<RunRecord> Get(Connection& db, absl::string_view id) {
  ASSAY_ASSIGN_OR_RETURN(Statement found,
                         db.Query("SELECT " ASSAY_RUN_COLUMNS " FROM runs WHERE id = ?1", id));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (!row) return UnknownRun(id);
  return TakeRun(db, found);
}

absl::StatusOr<std::vector<RunRecord>> List(Connection& db, absl::string_view plan,
                                            uint32_t limit) {
  if (plan.empty()) {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        db.Query("SELECT " ASSAY_RUN_COLUMNS " FROM runs ORDER BY number DESC LIMIT ?1", limit));
    return TakeRuns(db, std::move(rows));
  }
  ASSAY_ASSIGN_OR_RETURN(Statement rows,
                         db.Query("SELECT " ASSAY_RUN_COLUMNS
                                  " FROM runs WHERE plan_name = ?1 ORDER BY number DESC LIMIT ?2",
                                  plan, limit));
  return TakeRuns(db, std::move(rows));
}

absl::StatusOr<std::vector<RunRecord>> ListActive(Connection& db) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      db.Query("SELECT " ASSAY_RUN_COLUMNS " FROM runs WHERE state = ?1 ORDER BY number DESC",
               v1::RUN_STATE_ACTIVE));
  return TakeRuns(db, std::move(rows));
}

absl::StatusOr<RunRecord> NewestOf(Connection& db, absl::string_view server) {
  ASSAY_ASSIGN_OR_RETURN(Statement found,
                         db.Query("SELECT " ASSAY_RUN_COLUMNS " FROM runs WHERE number = "
                                  "(SELECT max(run_number) FROM run_servers WHERE name = ?1)",
                                  server));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (!row) {
    return Error(absl::StatusCode::kNotFound, "server.no_run_of_server",
                 {{"name", std::string(server)}});
  }
  return TakeRun(db, found);
}

absl::Status End(Connection& db, absl::string_view id, v1::RunState state, absl::Time ended_at) {
  ASSAY_RETURN_IF_ERROR(
      db.Run("UPDATE runs SET state = ?2, ended_at_us = ?3 WHERE id = ?1 AND state = ?4", id, state,
             ended_at, v1::RUN_STATE_ACTIVE));
  if (db.changes() == 1) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(RunRecord run, Get(db, id));
  if (run.state == state) return absl::OkStatus();
  return Error(absl::StatusCode::kAborted, "server.run_not_active", {{"run", run.id}});
}

absl::StatusOr<std::vector<TaskRecord>> ListTasks(Connection& db, absl::string_view run) {
  ASSAY_ASSIGN_OR_RETURN(int64_t number, NumberOf(db, run));
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      db.Query("SELECT tasks.task, tasks.server, tasks.vantage, tasks.probe, tasks.window_name, "
               "tasks.day, tasks.due_at_us, tasks.window_end_at_us, tasks.time_limit_us, "
               "tasks.state, tasks.attempt, tasks.agent_id, tasks.reason, results.id "
               "FROM tasks LEFT JOIN results ON results.run_number = tasks.run_number "
               "AND results.task = tasks.task WHERE tasks.run_number = ?1 ORDER BY tasks.task",
               number));
  std::vector<TaskRecord> tasks;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return tasks;
    TaskRecord& task = tasks.emplace_back();
    task.run = std::string(run);
    ASSAY_RETURN_IF_ERROR(TakeTask(db, rows, task));
  }
}

absl::StatusOr<v1::TaskCounts> CountTasks(Connection& db, absl::string_view run,
                                          absl::string_view server) {
  ASSAY_ASSIGN_OR_RETURN(int64_t number, NumberOf(db, run));
  ASSAY_ASSIGN_OR_RETURN(Statement rows,
                         db.Query("SELECT state, count(*) FROM tasks WHERE run_number = ?1 "
                                  "AND (?2 = '' OR server = ?2) GROUP BY state",
                                  number, server));
  v1::TaskCounts counts;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return counts;
    v1::TaskState state = rows.TakeEnum<v1::TaskState>();
    Add(counts, state, static_cast<uint32_t>(rows.TakeInt()));
  }
}

absl::Status TransitionTasks(Connection& db, const std::vector<TaskTransition>& transitions) {
  for (const TaskTransition& transition : transitions) {
    ASSAY_RETURN_IF_ERROR(db.Run(
        "UPDATE tasks SET state = ?5, attempt = ?6, agent_id = ?7, reason = ?8 "
        "WHERE run_number = (SELECT number FROM runs WHERE id = ?1) AND task = ?2 "
        "AND state = ?3 AND attempt = ?4",
        transition.run, transition.index, transition.from, transition.from_attempt, transition.to,
        transition.attempt, transition.agent_id, Blob{transition.reason.SerializeAsString()}));
    if (db.changes() != 1) {
      return Error(absl::StatusCode::kAborted, "store.task_changed",
                   {{"run", transition.run}, {"task", std::to_string(transition.index)}});
    }
  }
  return absl::OkStatus();
}

#undef ASSAY_RUN_COLUMNS

}  // namespace assay::store::runs
