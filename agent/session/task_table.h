// The attempts that were assigned to this agent and have no result yet.
//
//   Assign --> queued --> running --> result into the spool
//                |           |  \--over its time limit--> told to stop; what it has by then, or
//                |           |                            "agent.time_limit"
//                +--Cancel---+--> dropped: its thread may still run and keeps its place, its result
//                                 is thrown away
//
// Pure: no threads, no network, time handed in.
#ifndef ASSAY_AGENT_SESSION_TASK_TABLE_H_
#define ASSAY_AGENT_SESSION_TASK_TABLE_H_

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/guard/guard.h"
#include "agent/session/action.h"
#include "agent/session/clock_filter.h"
#include "agent/session/moment.h"
#include "agent/spool/spool.h"
#include "assay/v1/agent.pb.h"
#include "assay/v1/result.pb.h"

namespace assay::session {

struct TaskTableOptions {
  const guard::Guard* guard = nullptr;
  spool::Spool* spool = nullptr;
  // Probes that run at the same time; more wait in order.
  int max_parallel = 8;
  std::string version;
};

class TaskTable {
 public:
  // Everything handed in must outlive it; `clock` is read only.
  TaskTable(const TaskTableOptions& options, const ClockFilter* clock,
            std::vector<Action>* actions);

  // What the agent can probe: kinds that are not listed are unknown to it.
  void SetCapabilities(std::vector<v1::Capability> capabilities);

  // Starts, queues or refuses it; ignores an attempt that is in the table already. The caller has
  // checked that the spool does not hold its result.
  void Assign(const v1::Assignment& assignment, const Moment& now);
  void Cancel(const TaskKey& key, const Moment& now);
  void CancelAll();
  void OnProbeDone(const TaskKey& key, v1::Result result, const Moment& now);
  // False where nobody is interested.
  bool Wants(const TaskKey& key) const;
  void Tick(const Moment& now);
  // Steady clock; InfiniteDuration() for never.
  absl::Duration NextTimer() const;

  // Attempts under way or waiting to be.
  std::vector<TaskKey> Working() const;
  // Threads that have not come back, dropped ones included.
  size_t Threads() const { return threads_; }
  // Results put into the spool since the last call.
  std::vector<TaskKey> TakeFinished();

 private:
  enum class State { kQueued, kRunning, kDropped };
  struct Task {
    v1::Assignment assignment;
    State state = State::kQueued;
    absl::Duration start_by;
    absl::Time started_epoch;  // Moment::Epoch() at the start
    absl::Time started_at;
    absl::Duration cancel_at = absl::InfiniteDuration();  // over its limit
    bool overdue = false;
    absl::Duration answer_at = absl::InfiniteDuration();  // overdue and silent
  };

  // Why it must not run, as a result to send; nullopt: it may.
  std::optional<v1::Result> Refusal(const v1::Assignment& assignment) const;
  void Begin(const TaskKey& key, Task& task, const Moment& now);
  void StartQueued(const Moment& now);
  void Drop(const TaskKey& key, Task& task);
  // Puts the result into the spool. `measured`: keep it whatever the spool's limit says.
  void Keep(const TaskKey& key, v1::Result result, const Moment& now, bool measured);

  const TaskTableOptions options_;
  const ClockFilter* const clock_;
  std::vector<Action>* const actions_;
  std::vector<v1::Capability> capabilities_;
  std::map<TaskKey, Task> tasks_;
  std::deque<TaskKey> queue_;  // those in state kQueued, in order of arrival
  size_t threads_ = 0;         // those in other states
  std::vector<TaskKey> finished_;
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_TASK_TABLE_H_
