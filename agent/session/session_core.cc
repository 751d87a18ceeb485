#include "agent/session/session_core.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/base/message.h"
#include "common/base/proto_time.h"

namespace assay::session {
namespace {

constexpr absl::Duration kOpenPatience = absl::Seconds(30);
constexpr absl::Duration kClosePatience = absl::Seconds(5);
constexpr absl::Duration kStopPatience = absl::Seconds(1);
constexpr absl::Duration kSpoolRetry = absl::Seconds(5);
constexpr absl::Duration kProgressInterval = absl::Seconds(1);
constexpr absl::Duration kDefaultInterval = absl::Seconds(10);
constexpr absl::Duration kShortestInterval = absl::Milliseconds(50);
constexpr absl::Duration kLongestInterval = absl::Minutes(5);
constexpr int kSilentIntervals = 3;
constexpr size_t kMaxHeartbeats = 16;
// Of the attempts whose result waits: leases of more are not renewed by a heartbeat.
constexpr int kMaxWaitingListed = 1000;
// The slowest line on which a large result may delay the heartbeats behind it.
constexpr double kSlowestBytesPerSecond = 16 << 10;

bool NotAllowed(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

}  // namespace

SessionCore::SessionCore(SessionOptions options)
    : options_(std::move(options)),
      spool_(*options_.tasks.spool),
      tasks_(options_.tasks, &clock_, &actions_) {}

void SessionCore::Start(const Moment& now) {
  started_ = true;
  TakeFinished(now);
  Open(now);
}

void SessionCore::Open(const Moment& now) {
  state_ = State::kOpening;
  reopen_at_ = absl::InfiniteDuration();
  give_up_at_ = now.steady + kOpenPatience;
  aborted_ = hello_sent_ = writing_ = welcomed_ = false;
  heartbeat_at_ = absl::InfiniteDuration();
  heartbeats_.clear();
  to_send_.clear();
  progress_sent_.clear();
  bytes_since_heard_ = 0;
  actions_.push_back(OpenStream{});
}

void SessionCore::Close(const Moment& now, absl::Duration patience) {
  state_ = State::kClosing;
  give_up_at_ = now.steady + patience;
  actions_.push_back(CloseStream{});
}

void SessionCore::Abort(const char* why) {
  give_up_at_ = absl::InfiniteDuration();
  state_ = State::kClosing;
  if (aborted_) return;
  if (why != nullptr) spdlog::warn("{}; connecting again", why);
  aborted_ = true;
  actions_.push_back(AbortStream{});
}

void SessionCore::End(const absl::Status& status) {
  state_ = State::kEnded;
  tasks_.CancelAll();
  if (absl::Status unwritten = spool_.RetryUnwritten(); !unwritten.ok()) {
    spdlog::error("results that could not be written are lost: {}",
                  std::string(unwritten.message()));
  }
  actions_.push_back(Finish{status});
}

void SessionCore::Stop(const Moment& now) {
  if (stopping_ || state_ == State::kEnded) return;
  stopping_ = true;
  tasks_.CancelAll();
  switch (state_) {
    case State::kOpen:
      return Close(now, kStopPatience);
    case State::kOpening:
      return Abort(nullptr);
    case State::kClosing:
      give_up_at_ = std::min(give_up_at_, now.steady + kStopPatience);
      return;
    default:
      return End(absl::OkStatus());
  }
}

void SessionCore::Reconnect(const Moment& now) {
  if (stopping_) return;
  if (state_ == State::kOpen) {
    reopen_at_ = now.steady;
    Close(now, kClosePatience);
  } else if (state_ == State::kWaiting && started_) {
    reopen_at_ = std::min(reopen_at_, now.steady);
  }
}

void SessionCore::OnMessage(const v1::CoordinatorMessage& message, const Moment& now) {
  if (state_ == State::kEnded || state_ == State::kWaiting) return;
  if (message.has_welcome()) return OnWelcome(message.welcome(), now);
  if (!welcomed_) {
    spdlog::warn("the coordinator sent something before its welcome: ignored");
    return;
  }
  switch (message.kind_case()) {
    case v1::CoordinatorMessage::kHeartbeatReply:
      return OnHeartbeatReply(message.heartbeat_reply(), now);
    case v1::CoordinatorMessage::kAssignment:
      return OnAssignment(message.assignment(), now);
    case v1::CoordinatorMessage::kAck:
      return OnAck(TaskKey::Of(message.ack().ref()));
    case v1::CoordinatorMessage::kCancel:
      return OnCancel(TaskKey::Of(message.cancel().ref()), now);
    case v1::CoordinatorMessage::kDrain:
      return OnDrain(message.drain(), now);
    default:
      return;  // a newer coordinator's message
  }
}

void SessionCore::OnWelcome(const v1::Welcome& welcome, const Moment& now) {
  if (state_ != State::kOpening || !hello_sent_) return;
  state_ = State::kOpen;
  welcomed_ = true;
  give_up_at_ = absl::InfiniteDuration();
  opened_at_ = heard_at_ = heartbeat_at_ = now.steady;
  interval_ = FromProto(welcome.heartbeat_interval());
  if (interval_ <= absl::ZeroDuration()) interval_ = kDefaultInterval;
  interval_ = std::clamp(interval_, kShortestInterval, kLongestInterval);
  // Made between our Hello and now: a first estimate, as wide as connecting took.
  if (welcome.has_time()) {
    absl::Time time = FromProto(welcome.time());
    clock_.Add(hello_at_, time, time, now);
  }
  for (const TaskKey& key : spool_.List()) to_send_.insert(key);
  spdlog::info("connected to the coordinator {} (version {}), {} results to send",
               welcome.coordinator(), welcome.version(), to_send_.size());
  actions_.push_back(Connected{});
}

void SessionCore::OnHeartbeatReply(const v1::HeartbeatReply& reply, const Moment& now) {
  auto match = std::find_if(heartbeats_.begin(), heartbeats_.end(), [&](const auto& sent) {
    return sent.first.seconds() == reply.sent_at().seconds() &&
           sent.first.nanos() == reply.sent_at().nanos();
  });
  if (match == heartbeats_.end()) return;
  clock_.Add(match->second, FromProto(reply.received_at()), FromProto(reply.replied_at()), now);
  heartbeats_.erase(heartbeats_.begin(), match + 1);
  heard_at_ = now.steady;
  bytes_since_heard_ = 0;
  // A session that has lasted is a healthy one; one that is cut off again and again is not.
  if (now.steady - opened_at_ >= interval_) backoff_.Reset();
}

void SessionCore::OnAssignment(const v1::Assignment& assignment, const Moment& now) {
  TaskKey key = TaskKey::Of(assignment.ref());
  if (stopping_) return;
  if (key.run.empty()) {
    spdlog::warn("the coordinator sent an assignment without a reference: ignored");
    return;
  }
  if (spool_.Has(key)) {
    if (state_ == State::kOpen) to_send_.insert(key);
    return;
  }
  tasks_.Assign(assignment, now);
  TakeFinished(now);
}

void SessionCore::OnAck(const TaskKey& key) {
  to_send_.erase(key);
  absl::Status status = spool_.Remove(key);
  if (!status.ok()) spdlog::warn("{}", std::string(status.message()));
}

void SessionCore::OnCancel(const TaskKey& key, const Moment& now) {
  progress_.erase(key);
  tasks_.Cancel(key, now);
  OnAck(key);
  TakeFinished(now);
}

void SessionCore::OnDrain(const v1::Drain& drain, const Moment& now) {
  if (state_ != State::kOpen) return;
  absl::Duration delay =
      std::clamp(FromProto(drain.reconnect_after()), absl::ZeroDuration(), absl::Minutes(10));
  // Not all agents at the same moment.
  delay += std::min(delay * 0.2, absl::Seconds(5)) * options_.random();
  spdlog::info("the coordinator asks to connect again in {}",
               absl::FormatDuration(absl::Trunc(delay, absl::Milliseconds(1))));
  reopen_at_ = now.steady + delay;
  Close(now, kClosePatience);
}

void SessionCore::OnStreamEnded(const absl::Status& status, const Moment& now) {
  if (state_ == State::kEnded || state_ == State::kWaiting) return;
  writing_ = false;
  if (stopping_) return End(absl::OkStatus());
  if (NotAllowed(status) && !aborted_) return End(status);
  if (!welcomed_) {
    actions_.push_back(
        ExplainFailure{aborted_ ? absl::DeadlineExceededError("no answer in time") : status});
  } else if (state_ == State::kOpen) {
    spdlog::warn("lost the coordinator: {}",
                 status.ok() ? "it closed the connection" : Render(Language::kEnglish, status));
  }
  state_ = State::kWaiting;
  give_up_at_ = absl::InfiniteDuration();
  if (reopen_at_ == absl::InfiniteDuration()) {
    reopen_at_ = now.steady + backoff_.Next(options_.random());
  }
}

void SessionCore::OnProbeDone(const TaskKey& key, const v1::Result& result, const Moment& now) {
  progress_.erase(key);
  progress_sent_.erase(key);
  tasks_.OnProbeDone(key, result, now);
  TakeFinished(now);
}

void SessionCore::OnProbeProgress(const TaskKey& key, double fraction) {
  if (tasks_.Wants(key)) progress_[key] = std::clamp(fraction, 0.0, 1.0);
}

void SessionCore::TakeFinished(const Moment& now) {
  for (const TaskKey& key : tasks_.TakeFinished()) {
    // Otherwise the next session begins with all that is spooled.
    if (state_ == State::kOpen) to_send_.insert(key);
  }
  // Something may be in memory only.
  if (!spool_.HasRoom() && retry_spool_at_ == absl::InfiniteDuration()) {
    retry_spool_at_ = now.steady + kSpoolRetry;
  }
}

absl::Duration SessionCore::SilenceLimit() const {
  return heard_at_ + interval_ * kSilentIntervals +
         absl::Seconds(static_cast<double>(bytes_since_heard_) / kSlowestBytesPerSecond);
}

void SessionCore::Tick(const Moment& now) {
  if (state_ == State::kEnded) return;
  tasks_.Tick(now);
  TakeFinished(now);
  if (now.steady >= retry_spool_at_) {
    absl::Status status = spool_.RetryUnwritten();
    retry_spool_at_ = status.ok() ? absl::InfiniteDuration() : now.steady + kSpoolRetry;
  }
  switch (state_) {
    case State::kWaiting:
      if (started_ && now.steady >= reopen_at_) Open(now);
      return;
    case State::kOpening:
    case State::kClosing:
      if (now.steady >= give_up_at_) Abort(nullptr);
      return;
    case State::kOpen:
      if (now.steady >= SilenceLimit()) Abort("the coordinator does not answer heartbeats");
      return;
    case State::kEnded:
      return;
  }
}

absl::Duration SessionCore::NextTimer() const {
  if (state_ == State::kEnded) return absl::InfiniteDuration();
  absl::Duration next = std::min(tasks_.NextTimer(), retry_spool_at_);
  switch (state_) {
    case State::kWaiting:
      return std::min(next, reopen_at_);
    case State::kOpening:
    case State::kClosing:
      return std::min(next, give_up_at_);
    case State::kOpen:
      next = std::min(next, SilenceLimit());
      // While a write is under way its end asks for more.
      if (writing_) return next;
      next = std::min(next, heartbeat_at_);
      for (const auto& [key, fraction] : progress_) {
        auto sent = progress_sent_.find(key);
        next = std::min(next, sent == progress_sent_.end() ? absl::ZeroDuration()
                                                           : sent->second + kProgressInterval);
      }
      return next;
    case State::kEnded:
      break;
  }
  return next;
}

std::optional<v1::AgentMessage> SessionCore::NextMessage(const Moment& now) {
  if (writing_) return std::nullopt;
  if (state_ == State::kOpening && !hello_sent_) return Written(MakeHello(now));
  if (state_ != State::kOpen) return std::nullopt;
  if (now.steady >= heartbeat_at_) return Written(MakeHeartbeat(now));
  std::optional<v1::AgentMessage> message = NextProgress(now);
  if (!message.has_value()) message = NextResult();
  if (!message.has_value()) return std::nullopt;
  return Written(*std::move(message));
}

v1::AgentMessage SessionCore::Written(v1::AgentMessage message) {
  writing_ = true;
  bytes_since_heard_ += message.ByteSizeLong();
  return message;
}

v1::AgentMessage SessionCore::MakeHello(const Moment& now) {
  hello_sent_ = true;
  hello_at_ = now;
  std::vector<v1::Capability> capabilities = options_.capabilities();
  v1::AgentMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_version(options_.tasks.version);
  hello.set_hostname(options_.hostname);
  hello.set_os(options_.os);
  for (const v1::Capability& capability : capabilities) *hello.add_capabilities() = capability;
  tasks_.SetCapabilities(std::move(capabilities));
  for (const TaskKey& key : tasks_.Working()) *hello.add_running() = key.ToRef();
  for (const TaskKey& key : spool_.List()) *hello.add_spooled() = key.ToRef();
  if (std::optional<v1::ClockEstimate> clock = clock_.Estimate(now); clock.has_value()) {
    *hello.mutable_clock() = *clock;
  }
  *hello.mutable_time() = ToProto(now.wall);
  return message;
}

v1::AgentMessage SessionCore::MakeHeartbeat(const Moment& now) {
  heartbeat_at_ = now.steady + interval_;
  v1::AgentMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  *heartbeat.mutable_sent_at() = ToProto(now.wall);
  for (const TaskKey& key : tasks_.Working()) *heartbeat.add_running() = key.ToRef();
  // A result on its way is still this agent's: its lease must not run out on a slow line.
  int listed = 0;
  for (const TaskKey& key : spool_.List()) {
    if (++listed > kMaxWaitingListed) break;
    *heartbeat.add_running() = key.ToRef();
  }
  if (std::optional<v1::ClockEstimate> clock = clock_.Estimate(now); clock.has_value()) {
    *heartbeat.mutable_clock() = *clock;
  }
  heartbeats_.emplace_back(heartbeat.sent_at(), now);
  if (heartbeats_.size() > kMaxHeartbeats) heartbeats_.pop_front();
  return message;
}

std::optional<v1::AgentMessage> SessionCore::NextProgress(const Moment& now) {
  for (auto it = progress_.begin(); it != progress_.end(); ++it) {
    auto sent = progress_sent_.find(it->first);
    if (sent != progress_sent_.end() && now.steady < sent->second + kProgressInterval) continue;
    v1::AgentMessage message;
    *message.mutable_progress()->mutable_ref() = it->first.ToRef();
    message.mutable_progress()->set_fraction(it->second);
    progress_sent_[it->first] = now.steady;
    progress_.erase(it);
    return message;
  }
  return std::nullopt;
}

std::optional<v1::AgentMessage> SessionCore::NextResult() {
  while (!to_send_.empty()) {
    TaskKey key = *to_send_.begin();
    to_send_.erase(to_send_.begin());
    absl::StatusOr<v1::TaskResult> result = spool_.Get(key);
    if (!result.ok()) {
      // Still in the spool where only reading failed: the next session tries again.
      spdlog::error("the result of task {} cannot be read: {}", key.ToString(),
                    std::string(result.status().message()));
      continue;
    }
    v1::AgentMessage message;
    *message.mutable_result() = *std::move(result);
    return message;
  }
  return std::nullopt;
}

}  // namespace assay::session
