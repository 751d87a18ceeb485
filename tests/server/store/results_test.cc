#include <cmath>
#include <limits>

#include "common/base/proto_time.h"
#include "server/store/metrics.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResultsTest : public ::testing::Test {
 protected:
  TestDirectory directory_;
  std::unique_ptr<Store> store_ = OpenOrDie(directory_.File("assay.db"));

  AppendResult Put(NewResult result) { return Append(*store_, std::move(result)).value(); }

  void Move(uint32_t index, v1::TaskState to, uint32_t attempt) {
    TaskRecord task = store_->ListTasks("run-1")->at(index);
    v1::Message reason;
    reason.set_id("earlier.reason");
    ASSERT_TRUE(store_
                    ->TransitionTasks(
                        {{"run-1", index, task.state, task.attempt, to, attempt, "a-1", reason}})
                    .ok());
  }

  std::vector<int64_t> List(const ResultFilter& filter) {
    std::vector<int64_t> ids;
    auto all = store_->ListResults(filter).value();
    for (const v1::StoredResult& result : all) {
      ids.push_back(result.id());
    }
    return ids;
  }
};

TEST_F(ResultsTest, ResultComesBackAsItWasStoredAndItsTaskIsDone) {
  InsertTestRun(*store_, "run-1", 2);
  Move(1, v1::TASK_STATE_LEASED, 1);
  NewResult result = TestResult("run-1", 1, 5000);
  result.result.add_marks(v1::MARK_CLOCK);
  (*result.result.mutable_versions())["agent"] = "0.1.0";
  result.metrics[1].add_marks(v1::MARK_CONTENDED);
  result.metrics[1].add_marks(v1::MARK_CACHED);
  const v1::Result sent = result.result;
  const std::vector<v1::Metric> metrics = result.metrics;

  AppendResult appended = Put(result);

  EXPECT_EQ(appended.outcome, AppendOutcome::kStored);
  v1::StoredResult stored = store_->GetResult(appended.result_id).value();
  EXPECT_EQ(stored.id(), appended.result_id);
  EXPECT_EQ(stored.ref().run(), "run-1");
  EXPECT_EQ(stored.ref().task(), 1u);
  EXPECT_EQ(stored.ref().attempt(), 1u);
  EXPECT_EQ(stored.server(), "gy-1");
  EXPECT_EQ(stored.vantage(), "sz-office");
  EXPECT_EQ(stored.probe(), "echo");
  EXPECT_EQ(stored.window(), "peak");
  EXPECT_EQ(stored.agent_id(), "a-sz");
  EXPECT_EQ(FromProto(stored.received_at()), TestTime(60));
  EXPECT_EQ(stored.evidence_sha256(), "sha-1");
  EXPECT_EQ(stored.result().SerializeAsString(), sent.SerializeAsString());
  ASSERT_EQ(stored.metrics_size(), 2);
  EXPECT_EQ(stored.metrics(0).SerializeAsString(), metrics[0].SerializeAsString());
  EXPECT_EQ(stored.metrics(1).SerializeAsString(), metrics[1].SerializeAsString());
  TaskRecord task = store_->ListTasks("run-1")->at(1);
  EXPECT_EQ(task.state, v1::TASK_STATE_DONE);
  EXPECT_EQ(task.result_id, appended.result_id);
  EXPECT_EQ(task.reason.id(), "");
}

TEST_F(ResultsTest, OutcomeDecidesTheTasksEnd) {
  InsertTestRun(*store_, "run-1", 3);
  const std::pair<v1::Outcome, v1::TaskState> cases[] = {
      {v1::OUTCOME_OK, v1::TASK_STATE_DONE},
      {v1::OUTCOME_FAILED, v1::TASK_STATE_FAILED},
      {v1::OUTCOME_NOT_MEASURABLE, v1::TASK_STATE_FAILED},
  };
  for (uint32_t i = 0; i < 3; ++i) {
    Move(i, v1::TASK_STATE_LEASED, 1);
    NewResult result = TestResult("run-1", i);
    result.result.set_outcome(cases[i].first);
    if (i > 0) result.result.mutable_reason()->set_id("probe.broke");
    ASSERT_EQ(Put(result).outcome, AppendOutcome::kStored);

    TaskRecord task = store_->ListTasks("run-1")->at(i);
    EXPECT_EQ(task.state, cases[i].second);
    EXPECT_EQ(task.reason.id(), i == 0 ? "" : "probe.broke");
    EXPECT_EQ(task.attempt, 1u);
    EXPECT_EQ(task.agent_id, "a-1");
  }
}

TEST_F(ResultsTest, ResultOfALeaseThatWasGivenBackIsStored) {
  InsertTestRun(*store_, "run-1", 1);
  Move(0, v1::TASK_STATE_LEASED, 1);
  Move(0, v1::TASK_STATE_PENDING, 1);

  EXPECT_EQ(Put(TestResult("run-1", 0)).outcome, AppendOutcome::kStored);
  EXPECT_EQ(store_->ListTasks("run-1")->at(0).state, v1::TASK_STATE_DONE);
}

TEST_F(ResultsTest, SecondResultOfATaskIsADuplicate) {
  InsertTestRun(*store_, "run-1", 1);
  AppendResult first = Put(TestResult("run-1", 0));
  NewResult again = TestResult("run-1", 0);
  again.ref.set_attempt(2);
  again.result.set_outcome(v1::OUTCOME_FAILED);

  AppendResult second = Put(again);

  EXPECT_EQ(second.outcome, AppendOutcome::kDuplicate);
  EXPECT_EQ(second.result_id, first.result_id);
  EXPECT_THAT(List({}), ElementsAre(first.result_id));
  EXPECT_EQ(store_->ListTasks("run-1")->at(0).state, v1::TASK_STATE_DONE);
}

TEST_F(ResultsTest, NobodyWantsTheResultOfATaskThatEndedOtherwiseOrIsUnknown) {
  InsertTestRun(*store_, "run-1", 2);
  Move(0, v1::TASK_STATE_CANCELLED, 0);
  Move(1, v1::TASK_STATE_MISSED, 0);

  EXPECT_EQ(Put(TestResult("run-1", 0)).outcome, AppendOutcome::kNotWanted);
  EXPECT_EQ(Put(TestResult("run-1", 1)).outcome, AppendOutcome::kNotWanted);
  EXPECT_EQ(Put(TestResult("run-1", 2)).outcome, AppendOutcome::kNotWanted);
  EXPECT_EQ(Put(TestResult("run-9", 0)).outcome, AppendOutcome::kNotWanted);
  EXPECT_THAT(List({}), IsEmpty());
  EXPECT_EQ(store_->ListTasks("run-1")->at(0).state, v1::TASK_STATE_CANCELLED);
  EXPECT_EQ(store_->ListTasks("run-1")->at(0).reason.id(), "earlier.reason");
}

TEST_F(ResultsTest, ResultThatCannotBeStoredLeavesNothing) {
  InsertTestRun(*store_, "run-1", 1);
  NewResult twice = TestResult("run-1", 0);
  twice.metrics.push_back(twice.metrics[0]);

  EXPECT_FALSE(Append(*store_, twice).ok());

  EXPECT_THAT(List({}), IsEmpty());
  EXPECT_EQ(store_->ListTasks("run-1")->at(0).state, v1::TASK_STATE_PENDING);
  EXPECT_THAT(RawQuery(directory_.File("assay.db"), "SELECT count(*) FROM metrics"),
              ElementsAre("0"));
  EXPECT_EQ(Put(TestResult("run-1", 0)).outcome, AppendOutcome::kStored);
}

TEST_F(ResultsTest, FiltersCombineNewestFirst) {
  InsertTestRun(*store_, "run-1", 4);
  std::vector<TaskRecord> tasks = TestTasks("run-2", 4);
  tasks[0].vantage = tasks[1].vantage = "bj-unicom";
  ASSERT_TRUE(store_->InsertRun(TestRun("run-2"), tasks).ok());
  std::vector<int64_t> ids;  // run-1 tasks 0 to 3, then run-2's
  for (const char* run : {"run-1", "run-2"}) {
    for (uint32_t i = 0; i < 4; ++i) ids.push_back(Put(TestResult(run, i)).result_id);
  }
  struct {
    ResultFilter filter;
    std::vector<int> expected;  // positions in `ids`
  } cases[] = {
      {{}, {7, 6, 5, 4, 3, 2, 1, 0}},
      {{.limit = 3}, {7, 6, 5}},
      {{.before_id = ids[5], .limit = 2}, {4, 3}},
      {{.run = "run-1"}, {3, 2, 1, 0}},
      {{.run = "run-3"}, {}},
      {{.server = "hk-1"}, {6, 4, 2, 0}},
      {{.vantage = "bj-unicom"}, {5, 4}},
      {{.run = "run-1", .vantage = "bj-unicom"}, {}},
      {{.run = "run-2", .server = "hk-1"}, {6, 4}},
      {{.server = "gy-1", .vantage = "sz-office", .before_id = ids[7]}, {3, 1}},
      {{.run = "run-2", .server = "gy-1", .vantage = "bj-unicom"}, {5}},
      {{.run = "run-2", .server = "gy-1", .before_id = ids[7], .limit = 9}, {5}},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    std::vector<int64_t> expected;
    for (int position : cases[i].expected) expected.push_back(ids[static_cast<size_t>(position)]);
    EXPECT_EQ(List(cases[i].filter), expected) << "case " << i;
  }
}

TEST_F(ResultsTest, EvidenceComesOnlyWhereItIsWanted) {
  InsertTestRun(*store_, "run-1", 2);
  Put(TestResult("run-1", 0, 3000));
  NewResult bare = TestResult("run-1", 1, 0);
  bare.metrics.clear();
  int64_t without = Put(bare).result_id;

  std::vector<v1::StoredResult> lean = store_->ListResults({}).value();
  std::vector<v1::StoredResult> full = store_->ListResults({.with_evidence = true}).value();

  EXPECT_EQ(lean[1].result().evidence_zstd(), "");
  EXPECT_EQ(full[1].result().evidence_zstd(), std::string(3000, 'a'));
  EXPECT_EQ(lean[1].metrics_size(), 2);
  EXPECT_EQ(store_->GetResult(without)->result().evidence_zstd(), "");
  EXPECT_EQ(store_->GetResult(without)->metrics_size(), 0);
}

TEST_F(ResultsTest, EveryKindOfFigureSurvives) {
  InsertTestRun(*store_, "run-1", 1);
  NewResult result = TestResult("run-1", 0);
  result.metrics.clear();
  v1::Metric& samples = result.metrics.emplace_back();
  samples.set_name("z.samples");
  for (double value :
       {0.0, -0.0, 1.0 / 3, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity()}) {
    samples.mutable_samples()->add_values(value);
  }
  v1::Metric& none = result.metrics.emplace_back();
  none.set_name("y.no_samples");
  none.mutable_samples();
  result.metrics.emplace_back().set_name("x.no_value");
  v1::Metric& large = result.metrics.emplace_back();
  large.set_name("w.large");
  large.mutable_proportion()->set_events(0xffffffffffffffffu);
  large.mutable_proportion()->set_trials(0x8000000000000000u);
  std::vector<v1::Metric> sent = result.metrics;

  v1::StoredResult stored = store_->GetResult(Put(result).result_id).value();

  ASSERT_EQ(stored.metrics_size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(stored.metrics(i).SerializeAsString(),
              sent[static_cast<size_t>(i)].SerializeAsString());
  }
}

TEST(SamplesTest, AreLittleEndianDoubles) {
  google::protobuf::RepeatedField<double> values;
  values.Add(1.0);
  values.Add(-2.5);
  // IEEE 754: 1.0 is 3ff0000000000000, -2.5 is c004000000000000.
  const std::string bytes("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\x04\xc0", 16);

  EXPECT_EQ(metrics::PackSamples(values), bytes);
  google::protobuf::RepeatedField<double> back;
  ASSERT_TRUE(metrics::UnpackSamples(bytes, back));
  EXPECT_THAT(back, ElementsAre(1.0, -2.5));
  EXPECT_FALSE(metrics::UnpackSamples(bytes.substr(1), back));
}

TEST_F(ResultsTest, UnknownResultIsNotFound) {
  absl::Status status = store_->GetResult(1).status();

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(IdOf(status), "server.unknown_result");
}

}  // namespace
}  // namespace assay::store
