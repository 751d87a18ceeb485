// Runs from start to verdict: freezes a plan into a run, shows how it goes, evaluates it.
#ifndef ASSAY_SERVER_DISPATCH_RUN_BOOK_H_
#define ASSAY_SERVER_DISPATCH_RUN_BOOK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/control.pb.h"
#include "common/clock/clock.h"
#include "server/dispatch/agent_hub.h"
#include "server/dispatch/dispatcher.h"
#include "server/store/store.h"

namespace assay::dispatch {

v1::Run RunProto(const store::RunRecord& run, const v1::TaskCounts& counts);
v1::Task TaskProto(const store::TaskRecord& task);
v1::RunProgress ProgressProto(const RunView& view, absl::Time now);

// Thread-safe; every call may block on the store.
class RunBook {
 public:
  RunBook(store::Store* store, const Clock* clock, AgentHub* hub, Dispatcher* dispatcher)
      : store_(store), clock_(clock), hub_(hub), dispatcher_(dispatcher) {}

  // NOT_FOUND for an unknown plan, or a plan that names unknown documents.
  absl::StatusOr<v1::Run> Start(absl::string_view plan, absl::string_view person);
  absl::StatusOr<v1::ListRunsResponse> List(const v1::ListRunsRequest& request);
  absl::StatusOr<v1::GetRunResponse> Get(const std::string& run);
  absl::StatusOr<v1::Run> Cancel(const std::string& run, const std::string& person);

  // Evaluates the server over the run ("" for its newest), stores the verdict and returns it.
  absl::StatusOr<v1::Verdict> Evaluate(absl::string_view server, absl::string_view run);
  // After a run has ended: a verdict for each of its servers.
  void EvaluateAll(const std::string& run);

 private:
  absl::StatusOr<store::RunRecord> Freeze(absl::string_view plan, absl::string_view person);
  // Things that will keep the run from deciding.
  std::vector<v1::Message> WarningsOf(const store::RunRecord& run) const;
  absl::StatusOr<v1::Run> Describe(const store::RunRecord& run);

  store::Store* const store_;
  const Clock* const clock_;
  AgentHub* const hub_;
  Dispatcher* const dispatcher_;
};

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_RUN_BOOK_H_
