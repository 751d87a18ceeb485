#include "server/dispatch/task_board.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "server/dispatch/task_messages.h"

namespace assay::dispatch {
namespace {

// Beyond the task's own time limit: transfer, a slow disk, a heartbeat that came late.
constexpr absl::Duration kLeaseSlack = absl::Seconds(60);
// A task whose window closes sooner than this is not given out any more.
constexpr absl::Duration kLeastStartTime = absl::Milliseconds(200);
// An agent is never handed more than this at once; the rest stays with the coordinator.
constexpr size_t kMaxLeasesPerAgent = 64;
// One commit's worth: a long absence does not turn into one huge transaction.
constexpr size_t kMaxBatch = 5000;

bool Ended(v1::TaskState state) {
  return state != v1::TASK_STATE_PENDING && state != v1::TASK_STATE_LEASED;
}

// Results that agents kept while they were away may arrive this long after the last window.
absl::Duration LateResultGrace(const store::RunRecord& run) {
  absl::Duration tenth = (run.planned_end_at - run.started_at) / 10;
  return std::clamp(tenth, absl::Seconds(60), absl::Hours(1));
}

// "vantage/sz-office" -> "sz-office".
std::string NameOf(const std::string& subject) { return subject.substr(subject.find('/') + 1); }

bool Lists(const google::protobuf::RepeatedPtrField<v1::TaskRef>& refs,
           const store::TaskRecord& task) {
  return std::any_of(refs.begin(), refs.end(), [&](const v1::TaskRef& ref) {
    return ref.run() == task.run && ref.task() == task.index && ref.attempt() == task.attempt;
  });
}

}  // namespace

std::string SubjectKey(v1::SubjectKind kind, absl::string_view name) {
  return absl::StrCat(kind == v1::SUBJECT_KIND_SERVER ? "server/" : "vantage/", name);
}

void TaskBoard::AddRun(const store::RunRecord& run, std::vector<store::TaskRecord> tasks) {
  RunState& state = runs_[run.id];
  state.run = run;
  state.give_up_at = run.planned_end_at + LateResultGrace(run);
  state.counts.set_total(static_cast<uint32_t>(tasks.size()));
  state.tasks.resize(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    Task& task = state.tasks[i];
    task.record = std::move(tasks[i]);
    Count(state, task.record.state, 1);
    if (Ended(task.record.state)) state.ended.push_back(task.record.index);
    Index(task);
  }
}

void TaskBoard::RemoveRun(const std::string& run) {
  auto found = runs_.find(run);
  if (found == runs_.end()) return;
  for (Task& task : found->second.tasks) Unindex(task);
  runs_.erase(found);
}

Batch TaskBoard::OnConnected(const std::string& agent_id, const std::string& subject,
                             const v1::Hello& hello, absl::Time now) {
  Batch batch;
  subject_of_agent_[agent_id] = subject;
  std::string previous = std::exchange(subjects_[subject].agent_id, agent_id);
  if (!previous.empty() && previous != agent_id) subject_of_agent_.erase(previous);
  Relist(subject);

  // Giving back changes the set that is walked.
  const std::set<TaskId> leases = subjects_[subject].leased;
  for (const auto& [run, index] : leases) {
    Task& task = runs_.at(run).tasks[index];
    bool own = task.record.agent_id == agent_id;
    if (own && (Lists(hello.running(), task.record) || Lists(hello.spooled(), task.record)))
      continue;
    batch.transitions.push_back(
        GiveBack(task, now, own ? "server.agent_restarted" : "server.agent_replaced"));
  }
  for (const v1::TaskRef& ref : hello.running()) {
    const Task* task = Find(ref);
    bool leased = task != nullptr && task->record.state == v1::TASK_STATE_LEASED &&
                  task->record.attempt == ref.attempt() && task->record.agent_id == agent_id;
    if (!leased) batch.messages.push_back({agent_id, CancelMessage(ref)});
  }
  return batch;
}

void TaskBoard::OnDisconnected(const std::string& agent_id) {
  auto found = subject_of_agent_.find(agent_id);
  if (found == subject_of_agent_.end()) return;
  std::string subject = found->second;
  subject_of_agent_.erase(found);
  subjects_[subject].agent_id.clear();
  Relist(subject);
}

void TaskBoard::OnHeartbeat(const std::string& agent_id, const v1::Heartbeat& heartbeat,
                            absl::Time now) {
  for (const v1::TaskRef& ref : heartbeat.running()) {
    Task* task = Find(ref);
    if (task == nullptr || task->set_aside || task->record.state != v1::TASK_STATE_LEASED ||
        task->record.agent_id != agent_id || task->record.attempt != ref.attempt()) {
      continue;
    }
    Renew(*task, now);
  }
}

void TaskBoard::Renew(Task& task, absl::Time now) {
  lease_deadlines_.erase({task.lease_deadline, task.record.run, task.record.index});
  task.lease_deadline = now + task.record.time_limit + kLeaseSlack;
  lease_deadlines_.insert({task.lease_deadline, task.record.run, task.record.index});
}

void TaskBoard::OnProgress(const std::string& agent_id, const v1::Progress& progress) {
  Task* task = Find(progress.ref());
  if (task == nullptr || task->record.agent_id != agent_id) return;
  task->fraction = std::clamp(progress.fraction(), 0.0, 1.0);
  ++runs_.at(progress.ref().run()).version;
}

Batch TaskBoard::OnResultStored(const v1::TaskRef& ref, v1::TaskState state,
                                const v1::Message& reason, int64_t result_id) {
  Batch batch;
  Task* task = Find(ref);
  if (task == nullptr || Ended(task->record.state)) return batch;
  if (task->record.state == v1::TASK_STATE_LEASED && task->record.attempt != ref.attempt()) {
    batch.messages.push_back(
        {task->record.agent_id, CancelMessage(RefOf(task->record, task->record.attempt))});
  }
  RunState& run = runs_.at(ref.run());
  Unindex(*task);
  Count(run, task->record.state, -1);
  task->record.state = state;
  task->record.reason = reason;
  task->record.result_id = result_id;
  Count(run, state, 1);
  run.ended.push_back(ref.task());
  ++run.version;
  return batch;
}

Batch TaskBoard::OnCancelRun(const std::string& run, const v1::Message& reason) {
  Batch batch;
  auto found = runs_.find(run);
  if (found == runs_.end()) return batch;
  for (Task& task : found->second.tasks) {
    if (task.set_aside || Ended(task.record.state)) continue;
    if (task.record.state == v1::TASK_STATE_LEASED) {
      batch.messages.push_back(
          {task.record.agent_id, CancelMessage(RefOf(task.record, task.record.attempt))});
    }
    batch.transitions.push_back(Propose(task, v1::TASK_STATE_CANCELLED, reason));
  }
  return batch;
}

Batch TaskBoard::Plan(absl::Time now) {
  Batch batch;
  PlanExpired(now, batch);
  PlanMissed(now, batch);
  PlanLost(now, batch);
  PlanLeases(now, batch);
  return batch;
}

void TaskBoard::PlanLeases(absl::Time now, Batch& batch) {
  std::vector<std::string> full;
  while (!ready_.empty() && ready_.begin()->first <= now) {
    std::string name = ready_.begin()->second;
    Subject& subject = subjects_.at(name);
    size_t held = subject.leased.size();
    while (!subject.pending.empty() && std::get<0>(*subject.pending.begin()) <= now &&
           held < kMaxLeasesPerAgent && batch.transitions.size() < kMaxBatch) {
      auto [due, run_id, index] = *subject.pending.begin();
      RunState& run = runs_.at(run_id);
      Task& task = run.tasks[index];
      if (task.record.window_end < now + kLeastStartTime) {
        // Too late to start; PlanMissed takes it when the window has closed.
        subject.pending.erase(subject.pending.begin());
        continue;
      }
      uint32_t attempt = task.record.attempt + 1;
      store::TaskTransition transition = Propose(task, v1::TASK_STATE_LEASED, {});
      transition.attempt = attempt;
      transition.agent_id = subject.agent_id;
      batch.transitions.push_back(std::move(transition));
      batch.messages.push_back(
          {subject.agent_id, AssignmentMessage(run.run, task.record, attempt, now)});
      ++held;
    }
    if (batch.transitions.size() >= kMaxBatch) break;
    if (held >= kMaxLeasesPerAgent) {
      // Out of the way for this call; what is set aside counts as leased only after Commit().
      ready_.erase({subject.listed_due, name});
      subject.listed_due = absl::InfiniteFuture();
      full.push_back(name);
    } else {
      Relist(name);
    }
  }
  for (const std::string& name : full) Relist(name);
}

void TaskBoard::PlanMissed(absl::Time now, Batch& batch) {
  while (!window_ends_.empty() && std::get<0>(*window_ends_.begin()) <= now &&
         batch.transitions.size() < kMaxBatch) {
    auto [end, run_id, index] = *window_ends_.begin();
    Task& task = runs_.at(run_id).tasks[index];
    std::string subject = SubjectOf(task.record);
    bool away = subjects_[subject].agent_id.empty();
    batch.transitions.push_back(
        Propose(task, v1::TASK_STATE_MISSED,
                MakeMessage(away ? "server.missed_agent_away" : "server.missed_window_closed",
                            {{"subject", NameOf(subject)}})));
  }
}

void TaskBoard::PlanExpired(absl::Time now, Batch& batch) {
  while (!lease_deadlines_.empty() && std::get<0>(*lease_deadlines_.begin()) <= now) {
    auto [deadline, run_id, index] = *lease_deadlines_.begin();
    Task& task = runs_.at(run_id).tasks[index];
    if (subject_of_agent_.count(task.record.agent_id) == 0) {
      // An agent that is away may hold the result: it decides when it is back, or PlanLost does.
      lease_deadlines_.erase(lease_deadlines_.begin());
      task.lease_deadline = now + kLeaseSlack;
      lease_deadlines_.insert({task.lease_deadline, run_id, index});
      continue;
    }
    batch.messages.push_back(
        {task.record.agent_id, CancelMessage(RefOf(task.record, task.record.attempt))});
    batch.transitions.push_back(GiveBack(task, now, "server.lease_ran_out"));
  }
}

void TaskBoard::PlanLost(absl::Time now, Batch& batch) {
  for (auto& [id, run] : runs_) {
    if (run.give_up_at > now || run.counts.leased() == 0) continue;
    for (Task& task : run.tasks) {
      if (task.set_aside || task.record.state != v1::TASK_STATE_LEASED) continue;
      if (subject_of_agent_.count(task.record.agent_id) > 0) continue;
      batch.transitions.push_back(
          Propose(task, v1::TASK_STATE_MISSED,
                  MakeMessage("server.agent_never_came_back",
                              {{"subject", NameOf(SubjectOf(task.record))}})));
    }
  }
}

absl::Time TaskBoard::NextPlanAt() const {
  absl::Time next = absl::InfiniteFuture();
  if (!ready_.empty()) next = std::min(next, ready_.begin()->first);
  if (!window_ends_.empty()) next = std::min(next, std::get<0>(*window_ends_.begin()));
  if (!lease_deadlines_.empty()) next = std::min(next, std::get<0>(*lease_deadlines_.begin()));
  return next;
}

store::TaskTransition TaskBoard::Propose(Task& task, v1::TaskState to, v1::Message reason) {
  Unindex(task);
  task.set_aside = true;
  store::TaskTransition transition;
  transition.run = task.record.run;
  transition.index = task.record.index;
  transition.from = task.record.state;
  transition.from_attempt = task.record.attempt;
  transition.to = to;
  transition.attempt = task.record.attempt;
  transition.agent_id = task.record.agent_id;
  transition.reason = std::move(reason);
  return transition;
}

store::TaskTransition TaskBoard::GiveBack(Task& task, absl::Time now, absl::string_view why) {
  bool open = task.record.window_end >= now + kLeastStartTime;
  return Propose(task, open ? v1::TASK_STATE_PENDING : v1::TASK_STATE_MISSED,
                 open ? v1::Message() : MakeMessage(why));
}

void TaskBoard::Commit(const Batch& batch, absl::Time now) {
  for (const store::TaskTransition& transition : batch.transitions) Apply(transition, now);
}

void TaskBoard::Apply(const store::TaskTransition& transition, absl::Time now) {
  auto found = runs_.find(transition.run);
  if (found == runs_.end()) return;
  RunState& run = found->second;
  Task& task = run.tasks[transition.index];
  // A result that arrived in the meantime has ended the task.
  if (!task.set_aside) return;
  task.set_aside = false;
  Count(run, task.record.state, -1);
  task.record.state = transition.to;
  task.record.attempt = transition.attempt;
  task.record.agent_id = transition.agent_id;
  task.record.reason = transition.reason;
  task.fraction = 0;
  task.lease_deadline = now + task.record.time_limit + kLeaseSlack;
  Count(run, transition.to, 1);
  if (Ended(transition.to)) run.ended.push_back(transition.index);
  ++run.version;
  Index(task);
}

void TaskBoard::Rollback(const Batch& batch) {
  for (const store::TaskTransition& transition : batch.transitions) {
    auto found = runs_.find(transition.run);
    if (found == runs_.end()) continue;
    Task& task = found->second.tasks[transition.index];
    if (!task.set_aside) continue;
    task.set_aside = false;
    Index(task);
  }
}

void TaskBoard::Index(Task& task) {
  const store::TaskRecord& record = task.record;
  if (record.state == v1::TASK_STATE_PENDING) {
    std::string subject = SubjectOf(record);
    subjects_[subject].pending.insert({record.due, record.run, record.index});
    window_ends_.insert({record.window_end, record.run, record.index});
    Relist(subject);
  } else if (record.state == v1::TASK_STATE_LEASED) {
    std::string subject = SubjectOf(record);
    subjects_[subject].leased.insert({record.run, record.index});
    lease_deadlines_.insert({task.lease_deadline, record.run, record.index});
    Relist(subject);
  }
}

void TaskBoard::Unindex(Task& task) {
  const store::TaskRecord& record = task.record;
  task.set_aside = false;
  if (record.state == v1::TASK_STATE_PENDING) {
    std::string subject = SubjectOf(record);
    subjects_[subject].pending.erase({record.due, record.run, record.index});
    window_ends_.erase({record.window_end, record.run, record.index});
    Relist(subject);
  } else if (record.state == v1::TASK_STATE_LEASED) {
    std::string subject = SubjectOf(record);
    subjects_[subject].leased.erase({record.run, record.index});
    Relist(subject);
    lease_deadlines_.erase({task.lease_deadline, record.run, record.index});
  }
}

// Keeps the subject's entry in ready_ equal to its earliest pending task, if an agent is there.
void TaskBoard::Relist(const std::string& name) {
  Subject& subject = subjects_[name];
  absl::Time due = absl::InfiniteFuture();
  if (!subject.agent_id.empty() && !subject.pending.empty() &&
      subject.leased.size() < kMaxLeasesPerAgent) {
    due = std::get<0>(*subject.pending.begin());
  }
  if (due == subject.listed_due) return;
  if (subject.listed_due != absl::InfiniteFuture()) ready_.erase({subject.listed_due, name});
  if (due != absl::InfiniteFuture()) ready_.insert({due, name});
  subject.listed_due = due;
}

void TaskBoard::Count(RunState& run, v1::TaskState state, int change) {
  v1::TaskCounts& counts = run.counts;
  auto add = [change](uint32_t value) { return value + static_cast<uint32_t>(change); };
  switch (state) {
    case v1::TASK_STATE_PENDING:
      return counts.set_pending(add(counts.pending()));
    case v1::TASK_STATE_LEASED:
      return counts.set_leased(add(counts.leased()));
    case v1::TASK_STATE_DONE:
      return counts.set_done(add(counts.done()));
    case v1::TASK_STATE_FAILED:
      return counts.set_failed(add(counts.failed()));
    case v1::TASK_STATE_MISSED:
      return counts.set_missed(add(counts.missed()));
    case v1::TASK_STATE_CANCELLED:
      return counts.set_cancelled(add(counts.cancelled()));
    default:
      return;
  }
}

TaskBoard::Task* TaskBoard::Find(const v1::TaskRef& ref) {
  return const_cast<Task*>(std::as_const(*this).Find(ref));
}

const TaskBoard::Task* TaskBoard::Find(const v1::TaskRef& ref) const {
  auto run = runs_.find(ref.run());
  if (run == runs_.end() || ref.task() >= run->second.tasks.size()) return nullptr;
  return &run->second.tasks[ref.task()];
}

std::string TaskBoard::SubjectOf(const store::TaskRecord& task) {
  return task.vantage.empty() ? SubjectKey(v1::SUBJECT_KIND_SERVER, task.server)
                              : SubjectKey(v1::SUBJECT_KIND_VANTAGE, task.vantage);
}

std::string TaskBoard::SubjectOf(const v1::TaskRef& ref) const {
  const Task* task = Find(ref);
  return task == nullptr ? "" : SubjectOf(task->record);
}

uint32_t TaskBoard::LeasedBy(const std::string& agent_id) const {
  auto subject = subject_of_agent_.find(agent_id);
  if (subject == subject_of_agent_.end()) return 0;
  return static_cast<uint32_t>(subjects_.at(subject->second).leased.size());
}

RunView TaskBoard::View(const std::string& run, size_t ended_position) const {
  RunView view;
  auto found = runs_.find(run);
  if (found == runs_.end()) return view;
  const RunState& state = found->second;
  view.run = state.run;
  view.counts = state.counts;
  for (size_t i = ended_position; i < state.ended.size(); ++i) {
    view.ended.push_back({state.tasks[state.ended[i]].record, 1});
  }
  view.ended_position = state.ended.size();
  for (const Task& task : state.tasks) {
    if (task.record.state == v1::TASK_STATE_LEASED)
      view.running.push_back({task.record, task.fraction});
    if (task.record.state == v1::TASK_STATE_PENDING)
      view.next_due = std::min(view.next_due, task.record.due);
  }
  return view;
}

std::vector<std::string> TaskBoard::Runs() const {
  std::vector<std::string> names;
  for (const auto& [name, run] : runs_) names.push_back(name);
  return names;
}

std::vector<std::string> TaskBoard::FinishedRuns() const {
  std::vector<std::string> names;
  for (const auto& [name, run] : runs_) {
    if (run.counts.pending() == 0 && run.counts.leased() == 0) names.push_back(name);
  }
  return names;
}

uint64_t TaskBoard::VersionOf(const std::string& run) const {
  auto found = runs_.find(run);
  return found == runs_.end() ? 0 : found->second.version;
}

}  // namespace assay::dispatch
