#include "server/dispatch/dispatcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <set>
#include <utility>

#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::dispatch {
namespace {

// How often watchers hear of changes, and the longest the thread sleeps.
constexpr absl::Duration kWatchInterval = absl::Milliseconds(250);
constexpr absl::Duration kLongestSleep = absl::Seconds(1);
// After the store refused a change (disk full, locked).
constexpr absl::Duration kStoreRetry = absl::Seconds(1);

}  // namespace

Dispatcher::Dispatcher(Options options) : options_(std::move(options)) {}

Dispatcher::~Dispatcher() { Stop(); }

absl::Status Dispatcher::Start() {
  ASSAY_ASSIGN_OR_RETURN(std::vector<store::RunRecord> runs, options_.store->ListActiveRuns());
  for (const store::RunRecord& run : runs) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<store::TaskRecord> tasks, options_.store->ListTasks(run.id));
    board_.AddRun(run, std::move(tasks));
    spdlog::info("run {} goes on", run.id);
  }
  thread_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

void Dispatcher::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Dispatcher::Post(std::function<void()> event) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return false;
    events_.push_back(std::move(event));
  }
  wake_.notify_one();
  return true;
}

void Dispatcher::Loop() {
  absl::Time watchers_at = absl::InfinitePast();
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      absl::Time now = options_.clock->Now();
      absl::Time next = std::max(board_.NextPlanAt(), store_retry_at_);
      absl::Duration sleep =
          std::min(next - now, watches_.empty() ? kLongestSleep : kWatchInterval);
      if (sleep > absl::ZeroDuration()) {
        wake_.wait_for(lock, absl::ToChronoNanoseconds(sleep),
                       [this] { return stopping_ || !events_.empty(); });
      }
      if (stopping_) break;
    }
    RunEvents();
    if (options_.clock->Now() >= store_retry_at_) PlanNow();
    EndRuns();
    absl::Time now = options_.clock->Now();
    if (now - watchers_at >= kWatchInterval || now < watchers_at) {
      UpdateWatchers();
      watchers_at = now;
    }
  }
  RunEvents();  // somebody may be waiting for one
}

void Dispatcher::RunEvents() {
  std::deque<std::function<void()>> events;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    events.swap(events_);
  }
  for (const auto& event : events) event();
}

void Dispatcher::PlanNow() {
  Batch batch;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    batch = board_.Plan(options_.clock->Now());
  }
  Execute(batch);
}

void Dispatcher::Execute(const Batch& batch) {
  if (batch.empty()) return;
  absl::Status status;
  if (!batch.transitions.empty()) status = options_.store->TransitionTasks(batch.transitions);
  if (absl::IsAborted(status) && batch.transitions.size() > 1) return ExecuteOneByOne(batch);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (status.ok()) {
      board_.Commit(batch, options_.clock->Now());
    } else {
      board_.Rollback(batch);
    }
  }
  if (status.ok()) {
    for (const OutgoingMessage& message : batch.messages) {
      options_.hub->Send(message.agent_id, message.message);
    }
  } else if (!absl::IsAborted(status)) {
    spdlog::error("cannot store {} changes of tasks, trying again: {}", batch.transitions.size(),
                  std::string(status.message()));
    store_retry_at_ = options_.clock->Now() + kStoreRetry;
  }
}

// A result ended one of the tasks while the batch was on its way: the others must not suffer.
void Dispatcher::ExecuteOneByOne(const Batch& batch) {
  for (const store::TaskTransition& transition : batch.transitions) {
    Batch one;
    one.transitions.push_back(transition);
    for (const OutgoingMessage& message : batch.messages) {
      const v1::TaskRef& ref = message.message.has_assignment() ? message.message.assignment().ref()
                                                                : message.message.cancel().ref();
      if (ref.run() == transition.run && ref.task() == transition.index) {
        one.messages.push_back(message);
      }
    }
    Execute(one);
  }
}

void Dispatcher::EndRuns() {
  std::vector<std::string> finished;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    finished = board_.FinishedRuns();
  }
  for (const std::string& run : finished) {
    v1::RunState state;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      state = board_.View(run, 0).counts.cancelled() > 0 ? v1::RUN_STATE_CANCELLED
                                                         : v1::RUN_STATE_FINISHED;
    }
    absl::Time now = options_.clock->Now();
    absl::Status status = options_.store->EndRun(run, state, now);
    if (!status.ok()) {
      spdlog::error("cannot end run {}, trying again: {}", run, std::string(status.message()));
      store_retry_at_ = now + kStoreRetry;
      continue;
    }
    spdlog::info("run {} has ended", run);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      std::vector<Watching> last;
      for (Watching& watch : watches_) {
        if (watch.run == run) last.push_back(watch);
      }
      watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                    [&](const Watching& watch) { return watch.run == run; }),
                     watches_.end());
      lock.unlock();
      for (Watching& watch : last) UpdateWatcher(watch, state);
      lock.lock();
      board_.RemoveRun(run);
    }
    if (options_.on_run_ended) options_.on_run_ended(run);
  }
}

void Dispatcher::UpdateWatchers() {
  std::vector<Watching> due;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    watches_.erase(std::remove_if(watches_.begin(), watches_.end(),
                                  [](const Watching& watch) { return watch.watcher.expired(); }),
                   watches_.end());
    due = watches_;
  }
  for (Watching& watch : due) UpdateWatcher(watch, v1::RUN_STATE_ACTIVE);
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Watching& done : due) {
    for (Watching& watch : watches_) {
      if (watch.watcher.owner_before(done.watcher) || done.watcher.owner_before(watch.watcher)) {
        continue;
      }
      watch.ended_position = done.ended_position;
      watch.version = done.version;
    }
  }
}

void Dispatcher::UpdateWatcher(Watching& watch, v1::RunState state) {
  RunView view;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t version = board_.VersionOf(watch.run);
    if (version == watch.version && state == v1::RUN_STATE_ACTIVE) return;
    watch.version = version;
    view = board_.View(watch.run, watch.ended_position);
  }
  watch.ended_position = view.ended_position;
  view.run.state = state;
  if (state != v1::RUN_STATE_ACTIVE) view.run.ended_at = options_.clock->Now();
  if (std::shared_ptr<RunWatcher> watcher = watch.watcher.lock()) watcher->OnUpdate(view);
}

void Dispatcher::AgentConnected(const std::string& agent_id, const store::Subject& subject,
                                const v1::Hello& hello) {
  Post([this, agent_id, key = SubjectKey(subject.kind, subject.name), hello] {
    Batch batch;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      batch = board_.OnConnected(agent_id, key, hello, options_.clock->Now());
    }
    Execute(batch);
  });
}

void Dispatcher::AgentDisconnected(const std::string& agent_id) {
  Post([this, agent_id] {
    // It may be back already: then the board must keep it.
    if (options_.hub->Find(agent_id).has_value()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    board_.OnDisconnected(agent_id);
  });
}

void Dispatcher::AgentHeartbeat(const std::string& agent_id, const v1::Heartbeat& heartbeat) {
  Post([this, agent_id, heartbeat] {
    std::lock_guard<std::mutex> lock(mutex_);
    board_.OnHeartbeat(agent_id, heartbeat, options_.clock->Now());
  });
}

void Dispatcher::AgentProgress(const std::string& agent_id, const v1::Progress& progress) {
  Post([this, agent_id, progress] {
    std::lock_guard<std::mutex> lock(mutex_);
    board_.OnProgress(agent_id, progress);
  });
}

void Dispatcher::ResultStored(const v1::TaskRef& ref, v1::TaskState state,
                              const v1::Message& reason, int64_t result_id) {
  Post([this, ref, state, reason, result_id] {
    Batch batch;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      batch = board_.OnResultStored(ref, state, reason, result_id);
    }
    Execute(batch);
  });
}

std::string Dispatcher::SubjectOf(const v1::TaskRef& ref) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return board_.SubjectOf(ref);
}

void Dispatcher::AddRun(const store::RunRecord& run, std::vector<store::TaskRecord> tasks) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    board_.AddRun(run, std::move(tasks));
  }
  Post([] {});
}

absl::Status Dispatcher::CancelRun(const std::string& run, const v1::Message& reason) {
  auto done = std::make_shared<std::promise<absl::Status>>();
  std::future<absl::Status> result = done->get_future();
  bool posted = Post([this, run, reason, done] {
    Batch batch;
    bool known;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      known = board_.HasRun(run);
      batch = board_.OnCancelRun(run, reason);
    }
    if (!known) {
      done->set_value(Error(absl::StatusCode::kNotFound, "server.run_not_active", {{"run", run}}));
      return;
    }
    Execute(batch);
    EndRuns();
    std::lock_guard<std::mutex> lock(mutex_);
    done->set_value(board_.HasRun(run)
                        ? Error(absl::StatusCode::kUnavailable, "server.cannot_store_now")
                        : absl::OkStatus());
  });
  if (!posted) return Error(absl::StatusCode::kUnavailable, "server.stopping");
  return result.get();
}

absl::StatusOr<RunView> Dispatcher::View(const std::string& run) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!board_.HasRun(run)) {
    return Error(absl::StatusCode::kNotFound, "server.run_not_active", {{"run", run}});
  }
  return board_.View(run, 0);
}

uint32_t Dispatcher::LeasedBy(const std::string& agent_id) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return board_.LeasedBy(agent_id);
}

bool Dispatcher::Watch(const std::string& run, std::weak_ptr<RunWatcher> watcher) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!board_.HasRun(run)) return false;
    watches_.push_back({run, std::move(watcher), 0, 0});
  }
  wake_.notify_one();
  return true;
}

}  // namespace assay::dispatch
