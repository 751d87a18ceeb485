// Queue, refusals and limits, seen through the session core.
#include "agent/session/task_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/session/probe_fields.h"
#include "tests/agent/session/core_harness.h"

namespace assay::session {
namespace {

using ::assay::testing::AssignmentMessage;
using ::assay::testing::CancelMessage;
using ::assay::testing::CoreTest;
using ::assay::testing::Key;
using ::assay::testing::Measured;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TaskTableTest : public CoreTest {
 protected:
  TaskTableTest() { Connect(); }

  std::vector<uint32_t> Started() {
    std::vector<uint32_t> tasks;
    for (const StartProbe& start : TakeActions<StartProbe>()) {
      tasks.push_back(start.assignment.ref().task());
    }
    return tasks;
  }
  void Done(uint32_t task, const v1::Result& result = Measured()) {
    core_->OnProbeDone(Key(task), result, Now());
  }
  v1::Result Failed() {
    v1::Result result;
    result.set_outcome(v1::OUTCOME_FAILED);
    result.mutable_reason()->set_id("probe.cancelled");
    return result;
  }
};

TEST_F(TaskTableTest, RunsAsManyAsAllowedAndTheRestInOrder) {
  for (uint32_t task : {5, 3, 9, 1}) Send(AssignmentMessage(Key(task)));
  EXPECT_THAT(Started(), ElementsAre(5, 3));
  Done(3);
  EXPECT_THAT(Started(), ElementsAre(9));
  Done(9);
  Done(5);
  EXPECT_THAT(Started(), ElementsAre(1));
}

TEST_F(TaskTableTest, ACancelledOneKeepsItsPlaceUntilItsThreadIsBack) {
  for (uint32_t task : {1, 2, 3}) Send(AssignmentMessage(Key(task)));
  EXPECT_THAT(Started(), ElementsAre(1, 2));
  Send(CancelMessage(Key(1)));
  EXPECT_THAT(Started(), IsEmpty());
  Send(AssignmentMessage(Key(1)));  // never twice at the same time
  EXPECT_THAT(Started(), IsEmpty());
  Done(1);
  EXPECT_THAT(Started(), ElementsAre(3));
}

TEST_F(TaskTableTest, ACancelledQueuedOneNeverStarts) {
  for (uint32_t task : {1, 2, 3, 4}) Send(AssignmentMessage(Key(task)));
  Send(CancelMessage(Key(3)));
  Started();
  Done(1);
  EXPECT_THAT(Started(), ElementsAre(4));
}

TEST_F(TaskTableTest, TooLateToStartIsAFailedResult) {
  for (uint32_t task : {1, 2, 3}) Send(AssignmentMessage(Key(task)));
  Started();
  EXPECT_LE(core_->NextTimer(), steady_ + absl::Seconds(60) + absl::Nanoseconds(1));
  steady_ = steady_ + absl::Seconds(60);
  core_->Tick(Now());
  EXPECT_FALSE(spool_.Has(Key(3)));
  steady_ = steady_ + absl::Milliseconds(1);
  core_->Tick(Now());
  EXPECT_EQ(Kept(Key(3)).outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(Kept(Key(3)).reason().id(), "agent.start_too_late");
  Done(1);
  EXPECT_THAT(Started(), IsEmpty());
}

TEST_F(TaskTableTest, OneThatIsTooLateDoesNotTakeThePlaceOfTheNext) {
  for (uint32_t task : {1, 2}) Send(AssignmentMessage(Key(task)));
  auto hurried = AssignmentMessage(Key(3));
  *hurried.mutable_assignment()->mutable_start_within() = ToProto(absl::Seconds(1));
  Send(hurried);
  Send(AssignmentMessage(Key(4)));
  Started();
  steady_ = steady_ + absl::Seconds(2);
  Done(1);
  EXPECT_THAT(Started(), ElementsAre(4));
  EXPECT_EQ(Kept(Key(3)).reason().id(), "agent.start_too_late");
}

TEST_F(TaskTableTest, ResultsSayWhoMadeThemWhenAndHow) {
  Send(AssignmentMessage(Key(1)));
  absl::Time began = wall_;
  Pass(absl::Seconds(4));
  Done(1);
  v1::Result result = Kept(Key(1));
  EXPECT_EQ(result.versions().at("assay-agent"), "1.2.3");
  EXPECT_EQ(result.origin(), v1::ORIGIN_MEASURED);
  EXPECT_EQ(FromProto(result.started_at()), began);
  EXPECT_EQ(FromProto(result.finished_at()), wall_);
  EXPECT_TRUE(result.has_clock());
}

// ---- refusals

TEST_F(TaskTableTest, WhatIsNotAllowedIsNotMeasurableHere) {
  struct Case {
    const char* name;
    std::function<void(v1::Probe&)> change;
    std::string reason;
  };
  const Case cases[] = {
      {"host", [](v1::Probe& probe) { probe.mutable_icmp()->set_target("forbidden"); },
       "guard.not_a_server"},
      {"kind", [](v1::Probe& probe) { probe.mutable_http()->set_target("192.0.2.1"); },
       "agent.broken"},  // a guard without a catalogue message
      {"unsupported", [](v1::Probe& probe) { probe.mutable_tcp()->set_target("192.0.2.1"); },
       "probe.some_reason"},
      {"unknown", [](v1::Probe& probe) { probe.clear_kind(); }, "agent.unknown_probe"},
  };
  uint32_t task = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto message = AssignmentMessage(Key(++task));
    c.change(*message.mutable_assignment()->mutable_probe());
    Send(message);
    EXPECT_THAT(Started(), IsEmpty());
    EXPECT_EQ(Kept(Key(task)).outcome(), v1::OUTCOME_NOT_MEASURABLE);
    EXPECT_EQ(Kept(Key(task)).reason().id(), c.reason);
    EXPECT_THAT(SentResults(), ElementsAre(Key(task)));
  }
}

TEST_F(TaskTableTest, AnEmptyTargetMeansTheServersFirstAddress) {
  Send(AssignmentMessage(Key(1), ""));
  auto started = TakeActions<StartProbe>();
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_EQ(TargetOf(started[0].assignment.probe()), "192.0.2.1");
  EXPECT_THAT(guard_.asked, ElementsAre("192.0.2.1"));
}

TEST_F(TaskTableTest, AFullSpoolAnswersWithoutMeasuring) {
  spool_.room = false;
  Send(AssignmentMessage(Key(1)));
  EXPECT_THAT(Started(), IsEmpty());
  EXPECT_EQ(Kept(Key(1)).reason().id(), "agent.no_room");
}

TEST_F(TaskTableTest, ASpoolWithoutReserveStartsNothingAndKeepsNothing) {
  spool_.room = false;
  spool_.reserve_full = true;
  Send(AssignmentMessage(Key(1)));
  EXPECT_THAT(Started(), IsEmpty());
  EXPECT_FALSE(spool_.Has(Key(1)));
  // And is ready for it again when there is room.
  spool_.room = true;
  Send(AssignmentMessage(Key(1)));
  EXPECT_THAT(Started(), ElementsAre(1));
}

TEST_F(TaskTableTest, WhatRunsWhenTheSpoolFillsUpIsKept) {
  Send(AssignmentMessage(Key(1)));
  spool_.room = false;
  spool_.reserve_full = true;
  Done(1);
  EXPECT_TRUE(spool_.Has(Key(1)));
}

TEST_F(TaskTableTest, AResultThatCannotBeSentBecomesAFailedOne) {
  Send(AssignmentMessage(Key(1)));
  Done(1, Measured(std::string(64 << 20, 'x')));
  EXPECT_EQ(Kept(Key(1)).outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(Kept(Key(1)).reason().id(), "agent.result_too_large");
  EXPECT_THAT(Kept(Key(1)).evidence_zstd(), IsEmpty());
}

// ---- time limits

TEST_F(TaskTableTest, AProbeThatGivesWhatItHasAfterItsLimitIsBelieved) {
  Send(AssignmentMessage(Key(1)));
  Pass(absl::Seconds(31));
  EXPECT_THAT(TakeActions<CancelProbe>(), IsEmpty());  // it may be about to end by itself
  Pass(absl::Seconds(1));
  EXPECT_THAT(TakeActions<CancelProbe>(), SizeIs(1));
  Done(1, Measured("truncated"));
  EXPECT_EQ(Kept(Key(1)).evidence_zstd(), "truncated");
}

TEST_F(TaskTableTest, AProbeThatHasNothingAfterItsLimitFailsByTheLimit) {
  Send(AssignmentMessage(Key(1)));
  Pass(absl::Seconds(32));
  Done(1, Failed());
  EXPECT_EQ(Kept(Key(1)).reason().id(), "agent.time_limit");
  EXPECT_EQ(Kept(Key(1)).reason().args().at("limit"), "30s");
}

TEST_F(TaskTableTest, AProbeThatHangsIsAnsweredForAndKeepsItsPlace) {
  for (uint32_t task : {1, 2, 3}) Send(AssignmentMessage(Key(task)));
  Started();
  Done(2);
  Started();
  Pass(absl::Seconds(32));
  Pass(absl::Seconds(3));
  EXPECT_EQ(Kept(Key(1)).reason().id(), "agent.time_limit");
  EXPECT_EQ(Kept(Key(3)).reason().id(), "agent.time_limit");
  EXPECT_EQ(core_->threads(), 2u);
  Send(AssignmentMessage(Key(4)));
  EXPECT_THAT(Started(), IsEmpty());
  Done(1, Measured("too late"));
  EXPECT_EQ(Kept(Key(1)).reason().id(), "agent.time_limit");
  EXPECT_THAT(Started(), ElementsAre(4));
}

TEST_F(TaskTableTest, TheTimerNeverStandsStill) {
  for (uint32_t task : {1, 2, 3}) Send(AssignmentMessage(Key(task)));
  for (int i = 0; i < 100; ++i) {
    ReadAll();
    absl::Duration next = core_->NextTimer();
    ASSERT_GT(next, steady_);
    if (next == absl::InfiniteDuration()) break;
    Pass(next - steady_);
    if (!TakeActions<AbortStream>().empty()) EndStream();
    TakeActions<OpenStream>();
  }
}

}  // namespace
}  // namespace assay::session
