// The state of every task of the active runs, and what should happen next. Pure: no threads, no
// store, time handed in. The Dispatcher drives it.
//
//   pending --lease--> leased --result stored--> done | failed
//      ^                  |
//      +--given back------+        (agent restarted without it, lease ran out, agent replaced)
//   pending --window closed--> missed
//   leased  --run over, agent never came back--> missed
//   pending | leased --cancel--> cancelled
//
// Nothing changes before it is durable: Plan() and the On...() functions propose a Batch and set
// its tasks aside; the driver stores the transitions and then calls Commit() (and sends the batch's
// messages) or Rollback().
//
// Invariants: a pending task that is not set aside is in exactly one subject's queue and in
// `window_ends_`; a leased one is in its subject's set; every task ends in exactly one final state.
#ifndef ASSAY_SERVER_DISPATCH_TASK_BOARD_H_
#define ASSAY_SERVER_DISPATCH_TASK_BOARD_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "server/store/records.h"

namespace assay::dispatch {

// A server or vantage as the owner of an agent: "server/hk-gpu-01".
std::string SubjectKey(v1::SubjectKind kind, absl::string_view name);

struct OutgoingMessage {
  std::string agent_id;
  v1::CoordinatorMessage message;
};

// Transitions to store together, and what to tell agents once they are.
struct Batch {
  std::vector<store::TaskTransition> transitions;
  std::vector<OutgoingMessage> messages;
  bool empty() const { return transitions.empty() && messages.empty(); }
};

// A task that ended, for watchers.
struct TaskView {
  store::TaskRecord record;
  double fraction = 0;
};

struct RunView {
  store::RunRecord run;
  v1::TaskCounts counts;
  std::vector<TaskView> running;
  std::vector<TaskView> ended;  // since the position asked for
  size_t ended_position = 0;    // ask from here next time
  absl::Time next_due = absl::InfiniteFuture();
};

class TaskBoard {
 public:
  // `tasks` as the store has them; index i of the vector is task i.
  void AddRun(const store::RunRecord& run, std::vector<store::TaskRecord> tasks);
  // Forgets a run that has ended.
  void RemoveRun(const std::string& run);
  bool HasRun(const std::string& run) const { return runs_.count(run) > 0; }

  // The agent's first message of a connection. Leases that it neither runs nor has spooled, and
  // those of another agent of the same subject, are given back; attempts that it runs without a
  // lease are cancelled.
  Batch OnConnected(const std::string& agent_id, const std::string& subject, const v1::Hello& hello,
                    absl::Time now);
  void OnDisconnected(const std::string& agent_id);
  // Renews the leases that the agent says it works on.
  void OnHeartbeat(const std::string& agent_id, const v1::Heartbeat& heartbeat, absl::Time now);
  void OnProgress(const std::string& agent_id, const v1::Progress& progress);
  // The store has ended the task with a result. The returned messages stop an attempt that has
  // become superfluous.
  Batch OnResultStored(const v1::TaskRef& ref, v1::TaskState state, const v1::Message& reason,
                       int64_t result_id);
  Batch OnCancelRun(const std::string& run, const v1::Message& reason);

  // What is due: leases, windows that closed, leases that ran out, agents that never came back.
  Batch Plan(absl::Time now);
  // When Plan() should next be called, at the latest.
  absl::Time NextPlanAt() const;

  void Commit(const Batch& batch, absl::Time now);
  void Rollback(const Batch& batch);

  // The subject that must deliver the task; "" for an unknown task.
  std::string SubjectOf(const v1::TaskRef& ref) const;
  uint32_t LeasedBy(const std::string& agent_id) const;
  RunView View(const std::string& run, size_t ended_position) const;
  std::vector<std::string> Runs() const;
  // Active runs whose tasks have all ended.
  std::vector<std::string> FinishedRuns() const;
  // Rises whenever something a watcher of this run can see has changed.
  uint64_t VersionOf(const std::string& run) const;

 private:
  using TaskId = std::pair<std::string, uint32_t>;  // run, index
  using TimedTask = std::tuple<absl::Time, std::string, uint32_t>;

  struct Task {
    store::TaskRecord record;
    bool set_aside = false;  // part of a batch that is being stored
    absl::Time lease_deadline = absl::InfiniteFuture();
    double fraction = 0;
  };
  struct RunState {
    store::RunRecord run;
    std::vector<Task> tasks;
    v1::TaskCounts counts;
    std::vector<uint32_t> ended;  // in order of ending
    uint64_t version = 1;
    // After this, leased tasks of agents that are away are missed.
    absl::Time give_up_at;
  };
  struct Subject {
    std::string agent_id;                            // connected agent, "" for none
    std::set<TimedTask> pending;                     // by due time
    std::set<TaskId> leased;                         // to this agent or an earlier one
    absl::Time listed_due = absl::InfiniteFuture();  // its entry in ready_
  };

  Task* Find(const v1::TaskRef& ref);
  const Task* Find(const v1::TaskRef& ref) const;
  static std::string SubjectOf(const store::TaskRecord& task);
  void Index(Task& task);
  void Unindex(Task& task);
  void Renew(Task& task, absl::Time now);
  void Relist(const std::string& subject);
  void Count(RunState& run, v1::TaskState state, int change);
  void Apply(const store::TaskTransition& transition, absl::Time now);
  store::TaskTransition Propose(Task& task, v1::TaskState to, v1::Message reason);
  void PlanLeases(absl::Time now, Batch& batch);
  void PlanMissed(absl::Time now, Batch& batch);
  void PlanExpired(absl::Time now, Batch& batch);
  void PlanLost(absl::Time now, Batch& batch);
  // Back to pending, or missed where its window has closed.
  store::TaskTransition GiveBack(Task& task, absl::Time now, absl::string_view why);

  std::map<std::string, RunState> runs_;
  std::map<std::string, Subject> subjects_;
  std::map<std::string, std::string> subject_of_agent_;  // connected agents
  std::set<std::pair<absl::Time, std::string>> ready_;   // next due task of each connected subject
  std::set<TimedTask> window_ends_;                      // of pending tasks
  std::set<TimedTask> lease_deadlines_;                  // of leased tasks
};

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_TASK_BOARD_H_
