// Drives the task board: gives out tasks when they are due, stores every change before it takes
// effect, and ends runs.
//
// One thread owns the board. Everything that happens (an agent connects, a result is stored,
// somebody cancels) is an event in its queue; between events it asks the board what is due. Lock
// order: none, `mutex_` is never held while another component is called.
#ifndef ASSAY_SERVER_DISPATCH_DISPATCHER_H_
#define ASSAY_SERVER_DISPATCH_DISPATCHER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/agent.pb.h"
#include "common/clock/clock.h"
#include "server/dispatch/agent_hub.h"
#include "server/dispatch/task_board.h"
#include "server/store/store.h"

namespace assay::dispatch {

// Follows one run. Called from the dispatcher's thread; must be quick.
class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  // The run as it is now; `view.ended` has what ended since the previous call. The last call has
  // another state than ACTIVE.
  virtual void OnUpdate(const RunView& view) = 0;
};

class Dispatcher {
 public:
  struct Options {
    store::Store* store = nullptr;
    const Clock* clock = nullptr;
    AgentHub* hub = nullptr;
    // After a run has ended, with its id; from the dispatcher's thread.
    std::function<void(const std::string&)> on_run_ended;
  };

  explicit Dispatcher(Options options);
  // Stops without ending any run: they go on after a restart.
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Loads the active runs and begins.
  absl::Status Start();
  void Stop();

  // ---- from agents' sessions; return at once
  void AgentConnected(const std::string& agent_id, const store::Subject& subject,
                      const v1::Hello& hello);
  void AgentDisconnected(const std::string& agent_id);
  void AgentHeartbeat(const std::string& agent_id, const v1::Heartbeat& heartbeat);
  void AgentProgress(const std::string& agent_id, const v1::Progress& progress);
  void ResultStored(const v1::TaskRef& ref, v1::TaskState state, const v1::Message& reason,
                    int64_t result_id);
  // Which subject the task is for; "" where no active run has it.
  std::string SubjectOf(const v1::TaskRef& ref) const;

  // ---- from control; the run is already stored
  void AddRun(const store::RunRecord& run, std::vector<store::TaskRecord> tasks);
  // Returns when the run is cancelled. NOT_FOUND where it is not active.
  absl::Status CancelRun(const std::string& run, const v1::Message& reason);
  // NOT_FOUND where it is not active.
  absl::StatusOr<RunView> View(const std::string& run) const;
  uint32_t LeasedBy(const std::string& agent_id) const;
  // False where the run is not active. The watcher is forgotten when it is destroyed or the run
  // ends.
  bool Watch(const std::string& run, std::weak_ptr<RunWatcher> watcher);

 private:
  struct Watching {
    std::string run;
    std::weak_ptr<RunWatcher> watcher;
    size_t ended_position = 0;
    uint64_t version = 0;
  };

  // False once the dispatcher stops; the event is dropped.
  bool Post(std::function<void()> event);
  void Loop();
  void RunEvents();
  void PlanNow();
  // Stores the batch's transitions, then makes them true and sends the messages.
  void Execute(const Batch& batch);
  void ExecuteOneByOne(const Batch& batch);
  // Ends runs whose tasks have all ended.
  void EndRuns();
  void UpdateWatchers();
  void UpdateWatcher(Watching& watch, v1::RunState state);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> events_;  // guarded by mutex_
  TaskBoard board_;                // guarded by mutex_; but for AddRun, changed by the thread only
  std::vector<Watching> watches_;  // guarded by mutex_
  bool stopping_ = false;          // guarded by mutex_
  absl::Time store_retry_at_ = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_DISPATCHER_H_
