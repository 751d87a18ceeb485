// Takes results in: checks who sends them, derives their metrics, stores them once.
#ifndef ASSAY_SERVER_DISPATCH_INTAKE_H_
#define ASSAY_SERVER_DISPATCH_INTAKE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "assay/v1/agent.pb.h"
#include "common/clock/clock.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/worker_pool.h"
#include "server/store/store.h"

namespace assay::dispatch {

// Thread-safe.
class Intake {
 public:
  Intake(store::Store* store, const Clock* clock, Dispatcher* dispatcher, WorkerPool* pool)
      : store_(store), clock_(clock), dispatcher_(dispatcher), pool_(pool) {}

  // Calls `done` exactly once, from some thread: OK means that the agent may forget the result (it
  // is durable, or nobody needs it), an error that it must keep and send it again later.
  void Take(const std::string& agent_id, const store::Subject& subject, v1::TaskResult result,
            std::function<void(absl::Status)> done);

 private:
  void Store(const std::string& agent_id, v1::TaskResult result,
             std::function<void(absl::Status)> done);

  store::Store* const store_;
  const Clock* const clock_;
  Dispatcher* const dispatcher_;
  WorkerPool* const pool_;
};

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_INTAKE_H_
