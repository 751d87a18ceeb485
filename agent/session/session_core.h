// An agent's conversation with its coordinator, as a state machine: what arrives goes in, what to
// do and to write comes out. Pure: no threads, no network, time and randomness handed in.
//
//   waiting --timer--> opening --Welcome--> open --Drain, new identity, Stop--> closing --+
//      ^                  |                  |                                            |
//      |                  +--no Welcome------+--coordinator silent--> closing             |
//      +------------------------------- the stream has ended <----------------------------+
//                                            |
//                                            +--not allowed, or after Stop--> ended
//
// Delivery: a result is in the spool from the moment its probe ends until it is acknowledged or
// cancelled. It is sent once a session, and again in the next one.
//
// Writing is pulled: NextMessage() when nothing is being written. So at most one message waits in
// memory, heartbeats are stamped when they really leave, and a result is read from the spool when
// its turn comes. First heartbeats, then progress (only the newest of each task), then results.
#ifndef ASSAY_AGENT_SESSION_SESSION_CORE_H_
#define ASSAY_AGENT_SESSION_SESSION_CORE_H_

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/session/action.h"
#include "agent/session/backoff.h"
#include "agent/session/clock_filter.h"
#include "agent/session/moment.h"
#include "agent/session/task_table.h"

namespace assay::session {

struct SessionOptions {
  TaskTableOptions tasks;
  std::string hostname;
  std::string os;
  // Asked before every Hello.
  std::function<std::vector<v1::Capability>()> capabilities;
  // Uniform in [0, 1).
  std::function<double()> random;
};

class SessionCore {
 public:
  explicit SessionCore(SessionOptions options);

  void Start(const Moment& now);
  // Ends everything: probes are cancelled and their results dropped, so that the coordinator gives
  // the tasks out again. Finish follows within a second of steady time.
  void Stop(const Moment& now);
  // A new connection as soon as the present one has ended in good order.
  void Reconnect(const Moment& now);

  void OnMessage(const v1::CoordinatorMessage& message, const Moment& now);
  // The message that NextMessage() gave is written.
  void OnWritten() { writing_ = false; }
  void OnStreamEnded(const absl::Status& status, const Moment& now);
  void OnProbeDone(const TaskKey& key, const v1::Result& result, const Moment& now);
  void OnProbeProgress(const TaskKey& key, double fraction);
  void Tick(const Moment& now);

  // What to write now; nullopt: nothing, or a write is under way.
  std::optional<v1::AgentMessage> NextMessage(const Moment& now);
  // To be done in order, after every call above.
  std::vector<Action> TakeActions() { return std::exchange(actions_, {}); }
  // When to call Tick() (and NextMessage()) next, at the latest, by the steady clock.
  absl::Duration NextTimer() const;

  bool open() const { return state_ == State::kOpen; }
  bool ended() const { return state_ == State::kEnded; }
  // Probe threads that have not come back.
  size_t threads() const { return tasks_.Threads(); }
  std::optional<v1::ClockEstimate> ClockAt(const Moment& now) const { return clock_.Estimate(now); }

 private:
  enum class State { kWaiting, kOpening, kOpen, kClosing, kEnded };

  void Open(const Moment& now);
  void Close(const Moment& now, absl::Duration patience);
  void Abort(const char* why);
  void End(const absl::Status& status);
  void OnWelcome(const v1::Welcome& welcome, const Moment& now);
  void OnHeartbeatReply(const v1::HeartbeatReply& reply, const Moment& now);
  void OnAssignment(const v1::Assignment& assignment, const Moment& now);
  void OnAck(const TaskKey& key);
  void OnCancel(const TaskKey& key, const Moment& now);
  void OnDrain(const v1::Drain& drain, const Moment& now);
  void TakeFinished(const Moment& now);

  v1::AgentMessage MakeHello(const Moment& now);
  v1::AgentMessage MakeHeartbeat(const Moment& now);
  std::optional<v1::AgentMessage> NextProgress(const Moment& now);
  std::optional<v1::AgentMessage> NextResult();
  v1::AgentMessage Written(v1::AgentMessage message);
  absl::Duration SilenceLimit() const;

  const SessionOptions options_;
  spool::Spool& spool_;
  std::vector<Action> actions_;
  ClockFilter clock_;
  TaskTable tasks_;
  Backoff backoff_;

  State state_ = State::kWaiting;
  bool stopping_ = false;
  bool started_ = false;
  // kWaiting: when to open. kClosing: when it may be opened again, if something asked for a time.
  absl::Duration reopen_at_ = absl::InfiniteDuration();
  // kOpening, kClosing: when patience ends.
  absl::Duration give_up_at_ = absl::InfiniteDuration();
  bool aborted_ = false;

  // Of this stream.
  bool hello_sent_ = false;
  bool writing_ = false;
  bool welcomed_ = false;
  Moment hello_at_;
  absl::Duration opened_at_;
  absl::Duration interval_;
  absl::Duration heartbeat_at_ = absl::InfiniteDuration();
  absl::Duration heard_at_;  // last reply
  uint64_t bytes_since_heard_ = 0;
  std::deque<std::pair<google::protobuf::Timestamp, Moment>> heartbeats_;  // without a reply
  std::set<TaskKey> to_send_;  // in the spool, not sent in this session
  std::map<TaskKey, double> progress_;
  std::map<TaskKey, absl::Duration> progress_sent_;

  absl::Duration retry_spool_at_ = absl::InfiniteDuration();
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_SESSION_CORE_H_
