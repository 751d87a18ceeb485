// A coordinator and an agent on a network that breaks, an agent that dies, messages that are lost
// or come twice, cancellations: after any such history every result that was measured has arrived,
// and nothing ran twice at the same time. Time and chance are simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>

#include "agent/session/session_core.h"
#include "tests/agent/session/core_harness.h"

namespace assay::session {
namespace {

using ::assay::testing::AckMessage;
using ::assay::testing::AssignmentMessage;
using ::assay::testing::CancelMessage;
using ::assay::testing::Measured;
using ::assay::testing::MemorySpool;
using ::assay::testing::PickyGuard;
using ::assay::testing::WelcomeMessage;

constexpr uint32_t kTasks = 40;
constexpr int kStormySteps = 3000;
constexpr int kCalmSteps = 4000;

class World {
 public:
  explicit World(uint32_t seed) : random_(seed) {
    for (uint32_t task = 0; task < kTasks; ++task) tasks_[task] = {};
    Boot();
  }

  void Run() {
    for (int i = 0; i < kStormySteps; ++i) Step(true);
    for (int i = 0; i < kCalmSteps && !Settled(); ++i) Step(false);
  }

  bool Settled() const {
    bool over = std::all_of(tasks_.begin(), tasks_.end(), [](const auto& entry) {
      return entry.second.done || entry.second.cancelled;
    });
    return over && spool_.List().empty() && running_.empty();
  }

  void Check() {
    EXPECT_TRUE(Settled()) << spool_.List().size() << " spooled, " << running_.size() << " running";
    for (const TaskKey& key : measured_) {
      EXPECT_TRUE(delivered_.count(key) > 0 || told_to_drop_.count(key) > 0)
          << key.ToString() << " was measured and is lost";
    }
    EXPECT_GT(measured_.size(), 10u);
    EXPECT_GT(crashes_, 3);
    EXPECT_GT(breaks_, 10);
    EXPECT_EQ(twice_, 0);
    EXPECT_LE(most_parallel_, 3u);
  }

 private:
  struct Task {
    uint32_t attempt = 0;
    bool leased = false;
    bool done = false;
    bool cancelled = false;
  };

  bool Chance(double probability) {
    return std::uniform_real_distribution<>(0, 1)(random_) < probability;
  }
  Moment Now() const { return {absl::FromUnixSeconds(1796000000) + steady_, steady_}; }

  void Boot() {
    SessionOptions options;
    options.tasks.guard = &guard_;
    options.tasks.spool = &spool_;
    options.tasks.max_parallel = 3;
    options.tasks.version = "1";
    options.capabilities = [] {
      std::vector<v1::Capability> list(1);
      list[0].set_probe("icmp");
      list[0].set_supported(true);
      return list;
    };
    options.random = [this] { return std::uniform_real_distribution<>(0, 1)(random_); };
    core_ = std::make_unique<SessionCore>(std::move(options));
    core_->Start(Now());
    Do();
  }

  // The agent dies: what is on disk stays, everything else is gone.
  void Crash() {
    ++crashes_;
    core_.reset();
    running_.clear();
    DropStream();
    Boot();
  }

  void DropStream() {
    stream_open_ = false;
    to_agent_.clear();
    to_coordinator_.clear();
    greeted_ = false;
  }

  void Break() {
    if (!stream_open_) return;
    ++breaks_;
    // What was on its way arrives in part.
    while (!to_coordinator_.empty() && Chance(0.5)) CoordinatorReads();
    DropStream();
    core_->OnStreamEnded(absl::UnavailableError("broken"), Now());
    Do();
  }

  void Do() {
    for (auto actions = core_->TakeActions(); !actions.empty(); actions = core_->TakeActions()) {
      for (const Action& action : actions) {
        if (std::get_if<OpenStream>(&action) != nullptr) {
          stream_open_ = true;
        } else if (const auto* start = std::get_if<StartProbe>(&action)) {
          twice_ += running_.insert(TaskKey::Of(start->assignment.ref())).second ? 0 : 1;
          most_parallel_ = std::max(most_parallel_, running_.size());
        } else if (std::get_if<AbortStream>(&action) || std::get_if<CloseStream>(&action)) {
          closing_ = true;
        }
      }
    }
    if (stream_open_ && Chance(0.8)) {
      if (auto message = core_->NextMessage(Now())) {
        to_coordinator_.push_back(*message);
        unwritten_ = true;
      }
    }
    if (unwritten_ && Chance(0.7)) {
      unwritten_ = false;
      core_->OnWritten();
    }
  }

  // ---- the coordinator

  void Tell(const v1::CoordinatorMessage& message) {
    if (stream_open_ && greeted_) to_agent_.push_back(message);
  }

  void CoordinatorReads() {
    v1::AgentMessage message = to_coordinator_.front();
    to_coordinator_.pop_front();
    if (message.has_hello()) return OnHello(message.hello());
    if (message.has_heartbeat()) {
      v1::CoordinatorMessage reply;
      *reply.mutable_heartbeat_reply()->mutable_sent_at() = message.heartbeat().sent_at();
      *reply.mutable_heartbeat_reply()->mutable_received_at() = ToProto(Now().wall);
      *reply.mutable_heartbeat_reply()->mutable_replied_at() = ToProto(Now().wall);
      return Tell(reply);
    }
    if (!message.has_result()) return;
    TaskKey key = TaskKey::Of(message.result().ref());
    delivered_.insert(key);
    Task& task = tasks_.at(key.task);
    if (!task.done && !task.cancelled && task.leased && task.attempt != key.attempt) {
      Tell(CancelMessage({"run-1", key.task, task.attempt}));
    }
    task.leased = false;
    task.done = true;
    Tell(AckMessage(key));
  }

  void OnHello(const v1::Hello& hello) {
    greeted_ = true;
    Tell(WelcomeMessage(Now().wall, absl::Seconds(5)));
    std::set<TaskKey> held;
    for (const v1::TaskRef& ref : hello.running()) held.insert(TaskKey::Of(ref));
    for (const v1::TaskRef& ref : hello.spooled()) held.insert(TaskKey::Of(ref));
    for (auto& [index, task] : tasks_) {
      if (held.count({"run-1", index, task.attempt}) == 0) task.leased = false;
    }
    for (const v1::TaskRef& ref : hello.running()) {
      const Task& task = tasks_.at(ref.task());
      if (!task.leased || task.attempt != ref.attempt()) Tell(CancelMessage(TaskKey::Of(ref)));
    }
  }

  void GiveOut() {
    for (auto& [index, task] : tasks_) {
      if (task.leased || task.done || task.cancelled || !Chance(0.2)) continue;
      if (!stream_open_ || !greeted_) return;
      task.leased = true;
      ++task.attempt;
      Tell(AssignmentMessage({"run-1", index, task.attempt}));
    }
  }

  void AgentReads(bool stormy) {
    v1::CoordinatorMessage message = to_agent_.front();
    if (stormy && message.has_assignment() && Chance(0.1)) {
      to_agent_.push_back(message);  // and once more later
    }
    to_agent_.pop_front();
    if (message.has_cancel()) told_to_drop_.insert(TaskKey::Of(message.cancel().ref()));
    core_->OnMessage(message, Now());
    Do();
  }

  void FinishOne() {
    if (running_.empty()) return;
    auto it = std::next(running_.begin(), random_() % running_.size());
    TaskKey key = *it;
    running_.erase(it);
    bool had = spool_.Has(key);
    core_->OnProbeDone(key, Measured(key.ToString()), Now());
    if (!had && spool_.Has(key)) measured_.insert(key);
    Do();
  }

  void Step(bool stormy) {
    steady_ += absl::Seconds(std::exponential_distribution<>(2)(random_));
    if (stormy) {
      if (Chance(0.005)) return Crash();
      if (Chance(0.02)) return Break();
      if (Chance(0.003)) {
        uint32_t task = random_() % kTasks;
        if (!tasks_[task].done) {
          tasks_[task].cancelled = true;
          Tell(CancelMessage({"run-1", task, tasks_[task].attempt}));
        }
      }
      // Deaf for a while: heartbeats are not answered.
      if (Chance(0.01)) steady_ += absl::Seconds(20);
      // The coordinator forgets that it knows the result: it gives the task out again.
      if (Chance(0.01)) tasks_[random_() % kTasks].done = false;
    }
    if (closing_) {
      closing_ = false;
      unwritten_ = false;
      Break();
    }
    core_->Tick(Now());
    Do();
    GiveOut();
    while (!to_coordinator_.empty() && Chance(0.7)) CoordinatorReads();
    while (!to_agent_.empty() && Chance(0.7)) AgentReads(stormy);
    while (Chance(0.4)) FinishOne();
    Do();
  }

  std::mt19937 random_;
  absl::Duration steady_ = absl::Seconds(1);
  PickyGuard guard_;
  MemorySpool spool_;
  std::unique_ptr<SessionCore> core_;
  std::set<TaskKey> running_;  // probes of the present process

  bool stream_open_ = false;
  bool closing_ = false;
  bool unwritten_ = false;
  std::deque<v1::AgentMessage> to_coordinator_;
  std::deque<v1::CoordinatorMessage> to_agent_;

  bool greeted_ = false;
  std::map<uint32_t, Task> tasks_;
  std::set<TaskKey> delivered_;

  std::set<TaskKey> measured_;
  std::set<TaskKey> told_to_drop_;
  int crashes_ = 0;
  int breaks_ = 0;
  int twice_ = 0;
  size_t most_parallel_ = 0;
};

TEST(SessionSimulation, NothingMeasuredIsLostAndNothingRunsTwiceAtOnce) {
  spdlog::set_level(spdlog::level::off);
  for (uint32_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    world.Run();
    world.Check();
  }
}

}  // namespace
}  // namespace assay::session
