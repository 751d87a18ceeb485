// Tables runs, run_servers, run_vantages, run_criteria and tasks. Meanings and errors as in
// store.h.
#ifndef ASSAY_SERVER_STORE_RUNS_H_
#define ASSAY_SERVER_STORE_RUNS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/store/connection.h"
#include "server/store/records.h"

namespace assay::store::runs {

absl::Status Insert(Connection& db, const RunRecord& run, const std::vector<TaskRecord>& tasks);
absl::StatusOr<RunRecord> Get(Connection& db, absl::string_view id);
absl::StatusOr<std::vector<RunRecord>> List(Connection& db, absl::string_view plan, uint32_t limit);
absl::StatusOr<std::vector<RunRecord>> ListActive(Connection& db);
absl::StatusOr<RunRecord> NewestOf(Connection& db, absl::string_view server);
absl::Status End(Connection& db, absl::string_view id, v1::RunState state, absl::Time ended_at);

absl::StatusOr<std::vector<TaskRecord>> ListTasks(Connection& db, absl::string_view run);
absl::StatusOr<v1::TaskCounts> CountTasks(Connection& db, absl::string_view run,
                                          absl::string_view server);
absl::Status TransitionTasks(Connection& db, const std::vector<TaskTransition>& transitions);

}  // namespace assay::store::runs

#endif  // ASSAY_SERVER_STORE_RUNS_H_
