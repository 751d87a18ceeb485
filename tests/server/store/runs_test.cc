#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;

class RunsTest : public ::testing::Test {
 protected:
  TestDirectory directory_;
  std::unique_ptr<Store> store_ = OpenOrDie(directory_.File("assay.db"));

  static std::vector<std::string> Ids(const absl::StatusOr<std::vector<RunRecord>>& runs) {
    std::vector<std::string> ids;
    for (const RunRecord& run : runs.value()) ids.push_back(run.id);
    return ids;
  }

  static TaskTransition Lease(uint32_t index) {
    return {"run-1", index, v1::TASK_STATE_PENDING, 0, v1::TASK_STATE_LEASED, 1, "a-1", {}};
  }
};

TEST_F(RunsTest, RunComesBackAsItWasStored) {
  InsertTestRun(*store_, "run-1", 3);

  RunRecord run = store_->GetRun("run-1").value();
  RunRecord expected = TestRun("run-1");
  EXPECT_EQ(run.id, "run-1");
  EXPECT_EQ(run.plan.SerializeAsString(), expected.plan.SerializeAsString());
  ASSERT_EQ(run.servers.size(), 2u);
  EXPECT_EQ(run.servers[0].SerializeAsString(), expected.servers[0].SerializeAsString());
  EXPECT_EQ(run.servers[1].name(), "gy-1");
  ASSERT_EQ(run.vantages.size(), 1u);
  EXPECT_EQ(run.vantages[0].name(), "sz-office");
  ASSERT_EQ(run.criteria.size(), 2u);
  EXPECT_EQ(run.criteria[0].id(), "peak-loss");
  EXPECT_EQ(run.seed, 0xfedcba9876543210u);
  EXPECT_EQ(run.started_by, "procurement");
  EXPECT_EQ(run.state, v1::RUN_STATE_ACTIVE);
  EXPECT_EQ(run.started_at, TestTime());
  EXPECT_FALSE(run.ended_at.has_value());
  EXPECT_EQ(run.planned_end_at, TestTime(3600));
}

TEST_F(RunsTest, TasksComeBackByIndexAsTheyWereStored) {
  std::vector<TaskRecord> tasks = TestTasks("run-1", 3);
  tasks[1].vantage = "";
  tasks[2].reason.set_id("server.missed");
  tasks[2].state = v1::TASK_STATE_MISSED;
  std::swap(tasks[0], tasks[2]);
  ASSERT_TRUE(store_->InsertRun(TestRun("run-1"), tasks).ok());

  std::vector<TaskRecord> found = store_->ListTasks("run-1").value();
  ASSERT_EQ(found.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    const TaskRecord& expected = tasks[2 - i];
    EXPECT_EQ(found[i].run, "run-1");
    EXPECT_EQ(found[i].index, i);
    EXPECT_EQ(found[i].server, expected.server);
    EXPECT_EQ(found[i].vantage, expected.vantage);
    EXPECT_EQ(found[i].probe, "echo");
    EXPECT_EQ(found[i].window, "peak");
    EXPECT_EQ(found[i].day, absl::CivilDay(2026, 12, 1));
    EXPECT_EQ(found[i].due, expected.due);
    EXPECT_EQ(found[i].window_end, TestTime(3600));
    EXPECT_EQ(found[i].time_limit, absl::Seconds(90));
    EXPECT_EQ(found[i].state, expected.state);
    EXPECT_EQ(found[i].attempt, 0u);
    EXPECT_EQ(found[i].reason.id(), expected.reason.id());
    EXPECT_EQ(found[i].result_id, 0);
  }
}

TEST_F(RunsTest, TimesWithoutEndSurvive) {
  RunRecord run = TestRun("run-1");
  run.started_at = absl::InfinitePast();
  run.planned_end_at = absl::InfiniteFuture();
  ASSERT_TRUE(store_->InsertRun(run, {}).ok());

  EXPECT_EQ(store_->GetRun("run-1")->started_at, absl::InfinitePast());
  EXPECT_EQ(store_->GetRun("run-1")->planned_end_at, absl::InfiniteFuture());
}

TEST_F(RunsTest, RunIsStoredOnceAndWithAllOfItsTasksOrNot) {
  InsertTestRun(*store_, "run-1", 1);
  absl::Status again = store_->InsertRun(TestRun("run-1"), TestTasks("run-1", 5));
  std::vector<TaskRecord> twice = TestTasks("run-2", 2);
  twice[1].index = 0;
  absl::Status broken = store_->InsertRun(TestRun("run-2"), twice);

  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(IdOf(again), "store.run_exists");
  EXPECT_EQ(store_->ListTasks("run-1")->size(), 1u);
  EXPECT_FALSE(broken.ok());
  EXPECT_EQ(store_->GetRun("run-2").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RunsTest, ListsAreNewestFirst) {
  for (const char* id : {"run-1", "run-2", "run-3"}) {
    RunRecord run = TestRun(id);
    if (run.id == "run-2") run.plan.set_name("other");
    // The clock was set back before the last one: order is that of starting all the same.
    if (run.id == "run-3") run.started_at = TestTime(-1000);
    ASSERT_TRUE(store_->InsertRun(run, {}).ok());
  }

  EXPECT_THAT(Ids(store_->ListRuns("", 10)), ElementsAre("run-3", "run-2", "run-1"));
  EXPECT_THAT(Ids(store_->ListRuns("", 2)), ElementsAre("run-3", "run-2"));
  EXPECT_THAT(Ids(store_->ListRuns("acceptance", 10)), ElementsAre("run-3", "run-1"));
  EXPECT_THAT(Ids(store_->ListRuns("none", 10)), ElementsAre());
}

TEST_F(RunsTest, NewestRunOfAServerIsTheLastThatHadIt) {
  InsertTestRun(*store_, "run-1", 0);
  RunRecord other = TestRun("run-2");
  other.servers = {ServerDocument("cq-1").server()};
  ASSERT_TRUE(store_->InsertRun(other, {}).ok());

  EXPECT_EQ(store_->NewestRunOf("hk-1")->id, "run-1");
  EXPECT_EQ(store_->NewestRunOf("cq-1")->id, "run-2");
  absl::Status none = store_->NewestRunOf("sh-1").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(IdOf(none), "server.no_run_of_server");
}

TEST_F(RunsTest, EndedRunStaysEndedAsItWas) {
  InsertTestRun(*store_, "run-1", 0);
  InsertTestRun(*store_, "run-2", 0);
  ASSERT_TRUE(store_->EndRun("run-1", v1::RUN_STATE_CANCELLED, TestTime(5)).ok());

  absl::Status otherwise = store_->EndRun("run-1", v1::RUN_STATE_FINISHED, TestTime(6));

  EXPECT_EQ(otherwise.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(store_->EndRun("run-1", v1::RUN_STATE_CANCELLED, TestTime(7)).ok());
  EXPECT_EQ(store_->GetRun("run-1")->state, v1::RUN_STATE_CANCELLED);
  EXPECT_EQ(store_->GetRun("run-1")->ended_at, TestTime(5));
  EXPECT_THAT(Ids(store_->ListActiveRuns()), ElementsAre("run-2"));
  EXPECT_EQ(store_->EndRun("run-9", v1::RUN_STATE_FINISHED, TestTime()).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(RunsTest, UnknownRunIsNotFoundEverywhere) {
  EXPECT_EQ(IdOf(store_->GetRun("x").status()), "server.unknown_run");
  EXPECT_EQ(IdOf(store_->ListTasks("x").status()), "server.unknown_run");
  EXPECT_EQ(IdOf(store_->CountTasks("x", "").status()), "server.unknown_run");
}

TEST_F(RunsTest, TransitionsChangeTheTaskFromWhereItIs) {
  InsertTestRun(*store_, "run-1", 4);
  ASSERT_TRUE(store_->TransitionTasks({Lease(0), Lease(2)}).ok());
  TaskTransition missed{"run-1", 2, v1::TASK_STATE_LEASED, 1, v1::TASK_STATE_MISSED, 1, "a-1", {}};
  missed.reason.set_id("server.missed_window_closed");
  ASSERT_TRUE(store_->TransitionTasks({missed}).ok());

  std::vector<TaskRecord> tasks = store_->ListTasks("run-1").value();
  EXPECT_EQ(tasks[0].state, v1::TASK_STATE_LEASED);
  EXPECT_EQ(tasks[0].attempt, 1u);
  EXPECT_EQ(tasks[0].agent_id, "a-1");
  EXPECT_EQ(tasks[1].state, v1::TASK_STATE_PENDING);
  EXPECT_EQ(tasks[2].state, v1::TASK_STATE_MISSED);
  EXPECT_EQ(tasks[2].reason.id(), "server.missed_window_closed");
  v1::TaskCounts counts = store_->CountTasks("run-1", "").value();
  EXPECT_EQ(counts.total(), 4u);
  EXPECT_EQ(counts.pending(), 2u);
  EXPECT_EQ(counts.leased(), 1u);
  EXPECT_EQ(counts.missed(), 1u);
  EXPECT_EQ(counts.done() + counts.failed() + counts.cancelled(), 0u);
  EXPECT_EQ(store_->CountTasks("run-1", "gy-1")->total(), 2u);
  EXPECT_EQ(store_->CountTasks("run-1", "gy-1")->pending(), 2u);
}

TEST_F(RunsTest, OneTransitionTooLateUndoesTheWholeBatch) {
  InsertTestRun(*store_, "run-1", 3);
  ASSERT_TRUE(store_->TransitionTasks({Lease(1)}).ok());
  TaskTransition wrong_attempt{"run-1", 1, v1::TASK_STATE_LEASED, 2, v1::TASK_STATE_PENDING, 2,
                               "",      {}};
  TaskTransition no_task = Lease(3);

  for (const TaskTransition& late : {Lease(1), wrong_attempt, no_task}) {
    absl::Status refused = store_->TransitionTasks({Lease(0), late, Lease(2)});
    EXPECT_EQ(refused.code(), absl::StatusCode::kAborted);
    EXPECT_EQ(IdOf(refused), "store.task_changed");
    EXPECT_EQ(store_->CountTasks("run-1", "")->pending(), 2u);
  }
}

}  // namespace
}  // namespace assay::store
