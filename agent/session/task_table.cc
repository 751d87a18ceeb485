#include "agent/session/task_table.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/session/probe_fields.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"

namespace assay::session {
namespace {

// A probe ends itself at its limit; only one that does not is told to stop, this much later.
constexpr absl::Duration kLimitGrace = absl::Seconds(2);
// One that was told to stop does so within about 100 ms. One that does not is given up.
constexpr absl::Duration kAnswerGrace = absl::Seconds(3);
// For an assignment that names none.
constexpr absl::Duration kLongestTask = absl::Hours(24);
// gRPC carries 64 MiB.
constexpr size_t kLargestResult = 63 << 20;

v1::Result Unmeasured(v1::Outcome outcome, const v1::Message& reason) {
  v1::Result result;
  result.set_outcome(outcome);
  *result.mutable_reason() = reason;
  return result;
}

v1::Message ReasonOf(const absl::Status& status) {
  return MessageOf(status).value_or(
      MakeMessage("agent.broken", {{"detail", std::string(status.message())}}));
}

absl::Duration Positive(const google::protobuf::Duration& proto, absl::Duration fallback) {
  absl::Duration value = FromProto(proto);
  return value > absl::ZeroDuration() ? std::min(value, fallback) : fallback;
}

}  // namespace

TaskTable::TaskTable(const TaskTableOptions& options, const ClockFilter* clock,
                     std::vector<Action>* actions)
    : options_(options), clock_(clock), actions_(actions) {}

void TaskTable::SetCapabilities(std::vector<v1::Capability> capabilities) {
  capabilities_ = std::move(capabilities);
}

std::optional<v1::Result> TaskTable::Refusal(const v1::Assignment& assignment) const {
  std::string kind = KindOf(assignment.probe());
  auto capability =
      std::find_if(capabilities_.begin(), capabilities_.end(),
                   [&](const v1::Capability& known) { return known.probe() == kind; });
  if (kind.empty() || capability == capabilities_.end()) {
    return Unmeasured(v1::OUTCOME_NOT_MEASURABLE,
                      MakeMessage("agent.unknown_probe", {{"probe", assignment.probe().name()},
                                                          {"version", options_.version}}));
  }
  absl::Status allowed = options_.guard->CheckProbe(kind);
  if (allowed.ok() && HasTarget(assignment.probe())) {
    std::vector<std::string> servers(assignment.server_addresses().begin(),
                                     assignment.server_addresses().end());
    allowed = options_.guard->CheckHost(TargetOf(assignment.probe()), servers);
  }
  if (!allowed.ok()) return Unmeasured(v1::OUTCOME_NOT_MEASURABLE, ReasonOf(allowed));
  if (!capability->supported()) {
    return Unmeasured(v1::OUTCOME_NOT_MEASURABLE, capability->reason());
  }
  return std::nullopt;
}

void TaskTable::Assign(const v1::Assignment& given, const Moment& now) {
  TaskKey key = TaskKey::Of(given.ref());
  if (tasks_.count(key) > 0) return;
  if (!options_.spool->HasRoom()) {
    spdlog::warn("task {} is not started: the spool takes no more results", key.ToString());
    return Keep(key, Unmeasured(v1::OUTCOME_FAILED, MakeMessage("agent.no_room")), now, false);
  }
  v1::Assignment assignment = given;
  if (HasTarget(assignment.probe()) && TargetOf(assignment.probe()).empty() &&
      assignment.server_addresses_size() > 0) {
    SetTarget(*assignment.mutable_probe(), assignment.server_addresses(0));
  }
  if (std::optional<v1::Result> refusal = Refusal(assignment); refusal.has_value()) {
    spdlog::warn("task {} ({}) is refused: {}", key.ToString(), KindOf(assignment.probe()),
                 Render(Language::kEnglish, refusal->reason()));
    return Keep(key, *std::move(refusal), now, false);
  }
  Task& task = tasks_[key];
  task.assignment = std::move(assignment);
  task.start_by = absl::InfiniteDuration();
  if (given.has_start_within()) task.start_by = now.steady + FromProto(given.start_within());
  queue_.push_back(key);
  StartQueued(now);
}

void TaskTable::Begin(const TaskKey& key, Task& task, const Moment& now) {
  absl::Duration limit = Positive(task.assignment.time_limit(), kLongestTask);
  *task.assignment.mutable_time_limit() = ToProto(limit);
  task.state = State::kRunning;
  task.started_epoch = now.Epoch();
  task.started_at = now.wall;
  task.cancel_at = now.steady + limit + kLimitGrace;
  ++threads_;
  spdlog::info("task {}: {} {}", key.ToString(), KindOf(task.assignment.probe()),
               TargetOf(task.assignment.probe()));
  actions_->push_back(StartProbe{task.assignment});
}

void TaskTable::StartQueued(const Moment& now) {
  // Those that are too late go first, wherever they stand: waiting would not help them.
  for (auto it = queue_.begin(); it != queue_.end();) {
    TaskKey key = *it;
    if (tasks_.at(key).start_by >= now.steady) {
      ++it;
      continue;
    }
    it = queue_.erase(it);
    tasks_.erase(key);
    Keep(key, Unmeasured(v1::OUTCOME_FAILED, MakeMessage("agent.start_too_late")), now, false);
  }
  while (!queue_.empty() && threads_ < static_cast<size_t>(options_.max_parallel)) {
    TaskKey key = queue_.front();
    queue_.pop_front();
    Begin(key, tasks_.at(key), now);
  }
}

void TaskTable::Drop(const TaskKey& key, Task& task) {
  if (task.state == State::kRunning && !task.overdue) actions_->push_back(CancelProbe{key});
  task.state = State::kDropped;
}

void TaskTable::Cancel(const TaskKey& key, const Moment& now) {
  auto found = tasks_.find(key);
  if (found == tasks_.end() || found->second.state == State::kDropped) return;
  spdlog::info("task {} is cancelled", key.ToString());
  if (found->second.state == State::kQueued) {
    queue_.erase(std::find(queue_.begin(), queue_.end(), key));
    tasks_.erase(found);
  } else {
    Drop(key, found->second);
  }
  StartQueued(now);
}

void TaskTable::CancelAll() {
  for (const TaskKey& key : queue_) tasks_.erase(key);
  queue_.clear();
  for (auto& [key, task] : tasks_) Drop(key, task);
}

bool TaskTable::Wants(const TaskKey& key) const {
  auto found = tasks_.find(key);
  return found != tasks_.end() && found->second.state == State::kRunning;
}

void TaskTable::OnProbeDone(const TaskKey& key, v1::Result result, const Moment& now) {
  auto found = tasks_.find(key);
  if (found == tasks_.end() || found->second.state == State::kQueued) return;
  Task task = std::move(found->second);
  tasks_.erase(found);
  --threads_;
  if (task.state == State::kRunning) {
    if (task.overdue && result.outcome() != v1::OUTCOME_OK) {
      result = Unmeasured(
          v1::OUTCOME_FAILED,
          MakeMessage("agent.time_limit",
                      {{"limit", absl::FormatDuration(FromProto(task.assignment.time_limit()))}}));
    }
    if (!result.has_started_at()) *result.mutable_started_at() = ToProto(task.started_at);
    if (std::optional<v1::ClockEstimate> clock = clock_->Estimate(now); clock.has_value()) {
      // A wall clock that was set meanwhile: the offset is right for one end of the result only.
      absl::Duration step = absl::AbsDuration(now.Epoch() - task.started_epoch);
      *clock->mutable_error_bound() = ToProto(FromProto(clock->error_bound()) + step);
      *result.mutable_clock() = *clock;
    }
    Keep(key, std::move(result), now, true);
  }
  StartQueued(now);
}

void TaskTable::Keep(const TaskKey& key, v1::Result result, const Moment& now, bool measured) {
  if (!result.has_started_at()) *result.mutable_started_at() = ToProto(now.wall);
  if (!result.has_finished_at()) *result.mutable_finished_at() = ToProto(now.wall);
  if (result.origin() == v1::ORIGIN_UNSPECIFIED) result.set_origin(v1::ORIGIN_MEASURED);
  if (!result.has_clock()) {
    std::optional<v1::ClockEstimate> clock = clock_->Estimate(now);
    if (clock.has_value()) *result.mutable_clock() = *clock;
  }
  (*result.mutable_versions())["assay-agent"] = options_.version;
  if (result.ByteSizeLong() > kLargestResult) {
    v1::Message reason =
        MakeMessage("agent.result_too_large", {{"bytes", absl::StrCat(result.ByteSizeLong())},
                                               {"limit_bytes", absl::StrCat(kLargestResult)}});
    result.clear_evidence_zstd();
    result.clear_notes();
    result.set_outcome(v1::OUTCOME_FAILED);
    *result.mutable_reason() = reason;
  }
  v1::TaskResult kept;
  *kept.mutable_ref() = key.ToRef();
  *kept.mutable_result() = std::move(result);
  if (measured) {
    absl::Status status = options_.spool->Put(kept);
    if (!status.ok()) {
      spdlog::error("the result of task {} is in memory only: {}", key.ToString(),
                    std::string(status.message()));
    }
  } else if (absl::Status status = options_.spool->PutIfRoom(kept); !status.ok()) {
    spdlog::error("task {} gets no answer: {}", key.ToString(), std::string(status.message()));
    return;
  }
  finished_.push_back(key);
}

void TaskTable::Tick(const Moment& now) {
  std::vector<TaskKey> given_up;
  for (auto& [key, task] : tasks_) {
    if (task.state != State::kRunning) continue;
    if (now.steady >= task.answer_at) given_up.push_back(key);
    if (!task.overdue && now.steady >= task.cancel_at) {
      task.overdue = true;
      task.answer_at = now.steady + kAnswerGrace;
      spdlog::warn("task {} is over its time limit", key.ToString());
      actions_->push_back(CancelProbe{key});
    }
  }
  for (const TaskKey& key : given_up) {
    // Answered now; its thread keeps the place until it comes back.
    Task& task = tasks_.at(key);
    task.state = State::kDropped;
    v1::Result result = Unmeasured(
        v1::OUTCOME_FAILED,
        MakeMessage("agent.time_limit",
                    {{"limit", absl::FormatDuration(FromProto(task.assignment.time_limit()))}}));
    *result.mutable_started_at() = ToProto(task.started_at);
    Keep(key, std::move(result), now, true);
  }
  StartQueued(now);
}

absl::Duration TaskTable::NextTimer() const {
  absl::Duration next = absl::InfiniteDuration();
  for (const auto& [key, task] : tasks_) {
    if (task.state == State::kQueued && task.start_by < absl::InfiniteDuration()) {
      next = std::min(next, task.start_by + absl::Nanoseconds(1));
    }
    if (task.state == State::kRunning) {
      next = std::min(next, task.overdue ? task.answer_at : task.cancel_at);
    }
  }
  return next;
}

std::vector<TaskKey> TaskTable::Working() const {
  std::vector<TaskKey> keys;
  for (const auto& [key, task] : tasks_) {
    if (task.state != State::kDropped) keys.push_back(key);
  }
  return keys;
}

std::vector<TaskKey> TaskTable::TakeFinished() { return std::exchange(finished_, {}); }

}  // namespace assay::session
