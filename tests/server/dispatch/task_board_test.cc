#include "server/dispatch/task_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace assay::dispatch {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

store::RunRecord MakeRun(const std::string& id, absl::Duration length) {
  store::RunRecord run;
  run.id = id;
  run.plan.set_name("plan");
  run.plan.add_probes()->set_name("echo");
  run.servers.emplace_back().set_name("hk");
  run.servers.back().add_addresses("192.0.2.1");
  run.started_at = kStart;
  run.planned_end_at = kStart + length;
  return run;
}

store::TaskRecord MakeTask(const std::string& run, uint32_t index, absl::Duration due,
                           absl::Duration window_end, const std::string& vantage = "sz") {
  store::TaskRecord task;
  task.run = run;
  task.index = index;
  task.server = "hk";
  task.vantage = vantage;
  task.probe = "echo";
  task.window = "peak";
  task.due = kStart + due;
  task.window_end = kStart + window_end;
  task.time_limit = absl::Seconds(10);
  return task;
}

// The agent's side of one message.
std::vector<v1::TaskRef> AssignedIn(const Batch& batch) {
  std::vector<v1::TaskRef> refs;
  for (const OutgoingMessage& message : batch.messages) {
    if (message.message.has_assignment()) refs.push_back(message.message.assignment().ref());
  }
  return refs;
}

std::vector<v1::TaskRef> CancelledIn(const Batch& batch) {
  std::vector<v1::TaskRef> refs;
  for (const OutgoingMessage& message : batch.messages) {
    if (message.message.has_cancel()) refs.push_back(message.message.cancel().ref());
  }
  return refs;
}

v1::TaskRef Ref(const std::string& run, uint32_t task, uint32_t attempt) {
  v1::TaskRef ref;
  ref.set_run(run);
  ref.set_task(task);
  ref.set_attempt(attempt);
  return ref;
}

class TaskBoardTest : public ::testing::Test {
 protected:
  void AddTasks(std::vector<store::TaskRecord> tasks, absl::Duration length = absl::Minutes(10)) {
    board_.AddRun(MakeRun("r", length), std::move(tasks));
  }
  Batch Connect(const std::string& agent, absl::Duration at, const v1::Hello& hello = {}) {
    Batch batch = board_.OnConnected(agent, "vantage/sz", hello, kStart + at);
    board_.Commit(batch, kStart + at);
    return batch;
  }
  Batch Plan(absl::Duration at) {
    Batch batch = board_.Plan(kStart + at);
    board_.Commit(batch, kStart + at);
    return batch;
  }
  store::TaskRecord Task(uint32_t index) {
    RunView view = board_.View("r", 0);
    for (const TaskView& task : view.running) {
      if (task.record.index == index) return task.record;
    }
    for (const TaskView& task : view.ended) {
      if (task.record.index == index) return task.record;
    }
    return {};
  }
  TaskBoard board_;
};

TEST_F(TaskBoardTest, GivesATaskOutWhenItIsDueAndNotBefore) {
  AddTasks({MakeTask("r", 0, absl::Seconds(5), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());

  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(4))), IsEmpty());
  Batch batch = Plan(absl::Seconds(5));

  ASSERT_THAT(AssignedIn(batch), SizeIs(1));
  EXPECT_EQ(batch.messages[0].agent_id, "a1");
  EXPECT_EQ(batch.messages[0].message.assignment().start_within().seconds(), 55);
  EXPECT_EQ(batch.messages[0].message.assignment().server_addresses(0), "192.0.2.1");
  EXPECT_EQ(AssignedIn(batch)[0].attempt(), 1u);
}

TEST_F(TaskBoardTest, NextPlanIsWhenTheFirstConnectedTaskIsDue) {
  AddTasks({MakeTask("r", 0, absl::Seconds(5), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());

  EXPECT_EQ(board_.NextPlanAt(), kStart + absl::Seconds(5));
}

TEST_F(TaskBoardTest, ATaskWhoseBatchCouldNotBeStoredIsOfferedAgain) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  board_.Rollback(board_.Plan(kStart));

  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(1))), SizeIs(1));
}

TEST_F(TaskBoardTest, ATaskIsNotOfferedTwiceWhileItsBatchIsBeingStored) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  Batch first = board_.Plan(kStart);

  EXPECT_TRUE(board_.Plan(kStart + absl::Seconds(1)).empty());
  EXPECT_THAT(AssignedIn(first), SizeIs(1));
}

TEST_F(TaskBoardTest, AWindowThatClosesBeforeTheAgentComesIsMissedWithTheReason) {
  AddTasks({MakeTask("r", 0, absl::Seconds(5), absl::Seconds(60))});
  Plan(absl::Seconds(59));
  EXPECT_EQ(board_.View("r", 0).counts.pending(), 1u);

  Plan(absl::Seconds(60));

  EXPECT_EQ(Task(0).state, v1::TASK_STATE_MISSED);
  EXPECT_EQ(Task(0).reason.id(), "server.missed_agent_away");
  EXPECT_THAT(board_.FinishedRuns(), SizeIs(1));
}

TEST_F(TaskBoardTest, ALateStartStillInsideTheWindowIsUsed) {
  AddTasks({MakeTask("r", 0, absl::Seconds(5), absl::Seconds(60))});
  Plan(absl::Seconds(50));
  Connect("a1", absl::Seconds(55));

  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(55))), SizeIs(1));
}

TEST_F(TaskBoardTest, AnAgentThatRestartedGetsItsTaskAgainAsANewAttempt) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());
  board_.OnDisconnected("a1");

  Connect("a1", absl::Seconds(10));
  std::vector<v1::TaskRef> assigned = AssignedIn(Plan(absl::Seconds(10)));

  ASSERT_THAT(assigned, SizeIs(1));
  EXPECT_EQ(assigned[0].attempt(), 2u);
}

TEST_F(TaskBoardTest, AnAgentThatKeptItsResultKeepsItsTask) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());
  board_.OnDisconnected("a1");

  v1::Hello hello;
  *hello.add_spooled() = Ref("r", 0, 1);
  Connect("a1", absl::Seconds(10), hello);

  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(10))), IsEmpty());
  EXPECT_EQ(Task(0).state, v1::TASK_STATE_LEASED);
}

TEST_F(TaskBoardTest, AnotherAgentOfTheSubjectTakesOverAtOnce) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());

  Connect("a2", absl::Seconds(1));
  Batch batch = Plan(absl::Seconds(1));

  ASSERT_THAT(AssignedIn(batch), SizeIs(1));
  EXPECT_EQ(batch.messages[0].agent_id, "a2");
}

TEST_F(TaskBoardTest, AnAttemptWithoutALeaseIsCancelled) {
  AddTasks({MakeTask("r", 0, absl::Seconds(30), absl::Seconds(60))});
  v1::Hello hello;
  *hello.add_running() = Ref("gone", 7, 1);

  EXPECT_THAT(CancelledIn(Connect("a1", absl::ZeroDuration(), hello)), SizeIs(1));
}

TEST_F(TaskBoardTest, ALeaseThatIsNotRenewedRunsOut) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Minutes(9))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());

  Batch batch = Plan(absl::Seconds(70));

  EXPECT_THAT(CancelledIn(batch), SizeIs(1));
  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(70))), SizeIs(1));
}

TEST_F(TaskBoardTest, AHeartbeatRenewsTheLease) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Minutes(9))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());
  v1::Heartbeat heartbeat;
  *heartbeat.add_running() = Ref("r", 0, 1);
  board_.OnHeartbeat("a1", heartbeat, kStart + absl::Seconds(60));

  EXPECT_TRUE(Plan(absl::Seconds(70)).empty());
}

TEST_F(TaskBoardTest, TheLeaseOfAnAgentThatIsAwayWaitsUntilTheRunIsOver) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(30))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());
  board_.OnDisconnected("a1");

  Plan(absl::Minutes(10));
  EXPECT_EQ(Task(0).state, v1::TASK_STATE_LEASED);
  Plan(absl::Minutes(12));

  EXPECT_EQ(Task(0).state, v1::TASK_STATE_MISSED);
  EXPECT_EQ(Task(0).reason.id(), "server.agent_never_came_back");
}

TEST_F(TaskBoardTest, AResultEndsTheTaskWhicheverAttemptItIsOfAndStopsTheOther) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());
  board_.OnDisconnected("a1");
  Connect("a1", absl::Seconds(1));
  Plan(absl::Seconds(1));

  Batch batch = board_.OnResultStored(Ref("r", 0, 1), v1::TASK_STATE_DONE, {}, 42);

  ASSERT_THAT(CancelledIn(batch), SizeIs(1));
  EXPECT_EQ(CancelledIn(batch)[0].attempt(), 2u);
  EXPECT_EQ(Task(0).state, v1::TASK_STATE_DONE);
  EXPECT_EQ(Task(0).result_id, 42);
}

TEST_F(TaskBoardTest, AResultThatOvertakesABatchWins) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Minutes(9))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());
  Batch expired = board_.Plan(kStart + absl::Seconds(70));
  board_.OnResultStored(Ref("r", 0, 1), v1::TASK_STATE_DONE, {}, 42);
  board_.Commit(expired, kStart + absl::Seconds(70));

  EXPECT_EQ(Task(0).state, v1::TASK_STATE_DONE);
  EXPECT_EQ(board_.View("r", 0).counts.done(), 1u);
}

TEST_F(TaskBoardTest, CancellingEndsPendingAndLeasedTasks) {
  AddTasks({MakeTask("r", 0, absl::ZeroDuration(), absl::Seconds(60)),
            MakeTask("r", 1, absl::Seconds(30), absl::Seconds(60))});
  Connect("a1", absl::ZeroDuration());
  Plan(absl::ZeroDuration());

  Batch batch = board_.OnCancelRun("r", {});
  board_.Commit(batch, kStart);

  EXPECT_THAT(CancelledIn(batch), SizeIs(1));
  EXPECT_EQ(board_.View("r", 0).counts.cancelled(), 2u);
  EXPECT_THAT(board_.FinishedRuns(), SizeIs(1));
}

TEST_F(TaskBoardTest, AnAgentIsNeverGivenMoreThanItsShareAtOnce) {
  std::vector<store::TaskRecord> tasks;
  for (uint32_t i = 0; i < 200; ++i) {
    tasks.push_back(MakeTask("r", i, absl::ZeroDuration(), absl::Minutes(9)));
  }
  AddTasks(std::move(tasks));
  Connect("a1", absl::ZeroDuration());

  EXPECT_THAT(AssignedIn(Plan(absl::ZeroDuration())), SizeIs(64));
  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(1))), IsEmpty());
  board_.OnResultStored(Ref("r", 0, 1), v1::TASK_STATE_DONE, {}, 1);
  EXPECT_THAT(AssignedIn(Plan(absl::Seconds(2))), SizeIs(1));
}

// Agents that come, go, forget and deliver at random; stores that refuse; results of old attempts.
// Whatever happens, every task ends once and the counts add up.
class TaskBoardSimulation : public ::testing::TestWithParam<int> {};

TEST_P(TaskBoardSimulation, EveryTaskEndsExactlyOnce) {
  std::mt19937 random(GetParam());
  auto chance = [&](double p) { return std::uniform_real_distribution<>(0, 1)(random) < p; };
  constexpr int kVantages = 3;
  constexpr uint32_t kTasks = 120;
  TaskBoard board;
  std::vector<store::TaskRecord> tasks;
  for (uint32_t i = 0; i < kTasks; ++i) {
    absl::Duration due = absl::Seconds(random() % 500);
    tasks.push_back(MakeTask("r", i, due, due + absl::Seconds(30 + random() % 100),
                             "v" + std::to_string(random() % kVantages)));
  }
  board.AddRun(MakeRun("r", absl::Minutes(10)), tasks);

  struct Agent {
    bool connected = false;
    std::map<uint32_t, uint32_t> running, spooled;  // task -> attempt
  };
  std::map<std::string, Agent> agents;
  std::set<uint32_t> stored;             // tasks with a result in the "database"
  std::map<uint32_t, int> final_states;  // how often each task ended
  auto subject = [](int v) { return "vantage/v" + std::to_string(v); };

  auto execute = [&](const Batch& batch, absl::Time now) {
    if (chance(0.1)) return board.Rollback(batch);
    // The database refuses a batch one of whose tasks has its result already.
    for (const store::TaskTransition& transition : batch.transitions) {
      if (stored.count(transition.index) > 0) return board.Rollback(batch);
    }
    board.Commit(batch, now);
    for (const store::TaskTransition& transition : batch.transitions) {
      if (transition.to == v1::TASK_STATE_MISSED) ++final_states[transition.index];
    }
    for (const OutgoingMessage& message : batch.messages) {
      Agent& agent = agents[message.agent_id];
      if (!agent.connected) continue;
      if (message.message.has_assignment()) {
        const v1::TaskRef& ref = message.message.assignment().ref();
        EXPECT_EQ(final_states.count(ref.task()), 0u) << "task given out after it ended";
        agent.running[ref.task()] = ref.attempt();
      } else {
        agent.running.erase(message.message.cancel().ref().task());
        agent.spooled.erase(message.message.cancel().ref().task());
      }
    }
  };

  for (int second = 0; second < 900; ++second) {
    absl::Time now = kStart + absl::Seconds(second);
    for (int v = 0; v < kVantages; ++v) {
      std::string id = "agent" + std::to_string(v);
      Agent& agent = agents[id];
      if (agent.connected && chance(0.03)) {
        agent.connected = false;
        board.OnDisconnected(id);
        if (chance(0.5)) agent.running.clear();  // killed, not just cut off
      } else if (!agent.connected && chance(0.1)) {
        agent.connected = true;
        v1::Hello hello;
        for (auto [task, attempt] : agent.running) *hello.add_running() = Ref("r", task, attempt);
        for (auto [task, attempt] : agent.spooled) *hello.add_spooled() = Ref("r", task, attempt);
        execute(board.OnConnected(id, subject(v), hello, now), now);
      }
      for (auto it = agent.running.begin(); it != agent.running.end();) {
        if (!chance(0.15)) {
          ++it;
          continue;
        }
        agent.spooled[it->first] = it->second;
        it = agent.running.erase(it);
      }
      for (auto it = agent.spooled.begin(); agent.connected && it != agent.spooled.end();) {
        auto [task, attempt] = *it;
        if (chance(0.3)) {
          if (final_states.count(task) == 0) {
            EXPECT_TRUE(stored.insert(task).second);
            ++final_states[task];
            execute(board.OnResultStored(Ref("r", task, attempt), v1::TASK_STATE_DONE, {}, 1), now);
          }
          it = agent.spooled.erase(it);
        } else {
          ++it;
        }
      }
    }
    execute(board.Plan(now), now);
    v1::TaskCounts counts = board.View("r", 0).counts;
    ASSERT_EQ(counts.pending() + counts.leased() + counts.done() + counts.missed(), kTasks);
  }

  EXPECT_THAT(board.FinishedRuns(), SizeIs(1));
  EXPECT_EQ(final_states.size(), kTasks);
  for (auto [task, times] : final_states) EXPECT_EQ(times, 1) << "task " << task;
  EXPECT_GT(board.View("r", 0).counts.done(), kTasks / 4) << "the simulation should measure things";
}

INSTANTIATE_TEST_SUITE_P(Seeds, TaskBoardSimulation, ::testing::Range(1, 60));

}  // namespace
}  // namespace assay::dispatch
