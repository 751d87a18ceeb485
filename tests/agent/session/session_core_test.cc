#include "agent/session/session_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/session/core_harness.h"

namespace assay::session {
namespace {

using ::assay::testing::AckMessage;
using ::assay::testing::AssignmentMessage;
using ::assay::testing::CancelMessage;
using ::assay::testing::CoreTest;
using ::assay::testing::Key;
using ::assay::testing::Measured;
using ::assay::testing::WelcomeMessage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using SessionCoreTest = CoreTest;

v1::TaskResult ResultOf(const TaskKey& key) {
  v1::TaskResult result;
  *result.mutable_ref() = key.ToRef();
  *result.mutable_result() = Measured();
  return result;
}

// ---- beginning

TEST_F(SessionCoreTest, SaysHelloWithAllThatItHas) {
  ASSERT_TRUE(spool_.Put(ResultOf(Key(7))).ok());
  v1::Hello hello = Connect();
  EXPECT_EQ(hello.version(), "1.2.3");
  EXPECT_EQ(hello.hostname(), "host");
  EXPECT_EQ(hello.capabilities_size(), 3);
  ASSERT_EQ(hello.spooled_size(), 1);
  EXPECT_EQ(hello.spooled(0).task(), 7u);
  EXPECT_FALSE(hello.has_clock());
  EXPECT_EQ(FromProto(hello.time()), wall_);
}

TEST_F(SessionCoreTest, WritesNothingButHelloBeforeTheWelcome) {
  ASSERT_TRUE(spool_.Put(ResultOf(Key(7))).ok());
  core_->Start(Now());
  EXPECT_THAT(ReadAll(), SizeIs(1));
  Send(AssignmentMessage(Key(1)));
  EXPECT_THAT(TakeActions<StartProbe>(), IsEmpty());
  Send(WelcomeMessage(wall_, absl::Seconds(10)));
  EXPECT_THAT(SentResults(), ElementsAre(Key(7)));
}

TEST_F(SessionCoreTest, OneWriteIsUnderWayAtATime) {
  core_->Start(Now());
  ASSERT_TRUE(core_->NextMessage(Now()).has_value());
  Send(WelcomeMessage(wall_, absl::Seconds(10)));
  EXPECT_FALSE(core_->NextMessage(Now()).has_value());
  core_->OnWritten();
  EXPECT_TRUE(core_->NextMessage(Now()).has_value());
}

TEST_F(SessionCoreTest, AMissingWelcomeEndsTheAttempt) {
  core_->Start(Now());
  ReadAll();
  Pass(absl::Seconds(29));
  EXPECT_THAT(TakeActions<AbortStream>(), IsEmpty());
  Pass(absl::Seconds(1));
  EXPECT_THAT(TakeActions<AbortStream>(), SizeIs(1));
  EndStream(absl::CancelledError());
  EXPECT_THAT(TakeActions<ExplainFailure>(), SizeIs(1));
}

// ---- results

TEST_F(SessionCoreTest, AResultIsSentOnceASessionAndAgainInTheNext) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeDone(Key(1), Measured(), Now());
  EXPECT_THAT(SentResults(), ElementsAre(Key(1)));
  Pass(absl::Seconds(5));
  EXPECT_THAT(SentResults(), IsEmpty());

  Reconnect();
  v1::Hello hello = Welcomed();
  EXPECT_EQ(hello.spooled_size(), 1);
  EXPECT_THAT(SentResults(), ElementsAre(Key(1)));

  Send(AckMessage(Key(1)));
  Reconnect();
  EXPECT_EQ(Welcomed().spooled_size(), 0);
  EXPECT_THAT(SentResults(), IsEmpty());
}

TEST_F(SessionCoreTest, AnAcknowledgementAloneEmptiesTheSpool) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeDone(Key(1), Measured(), Now());
  ReadAll();
  EXPECT_TRUE(spool_.Has(Key(1)));
  Send(AckMessage(Key(2)));
  EXPECT_TRUE(spool_.Has(Key(1)));
  Send(AckMessage(Key(1)));
  EXPECT_FALSE(spool_.Has(Key(1)));
}

TEST_F(SessionCoreTest, ProbesGoOnWhileTheCoordinatorIsAway) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  EndStream();
  EXPECT_THAT(TakeActions<CancelProbe>(), IsEmpty());
  core_->OnProbeDone(Key(1), Measured(), Now());
  Pass(absl::Seconds(30));
  Welcomed();
  EXPECT_THAT(SentResults(), ElementsAre(Key(1)));
}

TEST_F(SessionCoreTest, AnUnreadableResultDoesNotHoldUpTheOthers) {
  Connect();
  for (uint32_t task : {1, 2}) Send(AssignmentMessage(Key(task)));
  for (uint32_t task : {1, 2}) core_->OnProbeDone(Key(task), Measured(), Now());
  ASSERT_TRUE(spool_.Remove(Key(1)).ok());  // behind its back
  EXPECT_THAT(SentResults(), ElementsAre(Key(2)));
}

TEST_F(SessionCoreTest, WhatIsInMemoryOnlyIsSentAndTriedAgain) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  spool_.disk_full = true;
  core_->OnProbeDone(Key(1), Measured(), Now());
  EXPECT_THAT(SentResults(), ElementsAre(Key(1)));
  Pass(absl::Seconds(5));
  Pass(absl::Seconds(5));
  EXPECT_EQ(spool_.retries, 2);
  spool_.disk_full = false;
  Pass(absl::Seconds(5));
  Pass(absl::Seconds(5));
  EXPECT_EQ(spool_.retries, 3);
}

// ---- assignments that come twice

TEST_F(SessionCoreTest, AnAttemptThatRunsIsNotStartedAgain) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  Send(AssignmentMessage(Key(1)));
  EXPECT_THAT(TakeActions<StartProbe>(), SizeIs(1));
}

TEST_F(SessionCoreTest, AnAttemptThatIsSpooledIsSentAgainInstead) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeDone(Key(1), Measured(), Now());
  ReadAll();
  TakeActions<StartProbe>();
  Send(AssignmentMessage(Key(1)));
  EXPECT_THAT(TakeActions<StartProbe>(), IsEmpty());
  EXPECT_THAT(SentResults(), ElementsAre(Key(1)));
}

TEST_F(SessionCoreTest, AnotherAttemptIsAnotherThing) {
  Connect();
  Send(AssignmentMessage(Key(1, 1)));
  Send(AssignmentMessage(Key(1, 2)));
  EXPECT_THAT(TakeActions<StartProbe>(), SizeIs(2));
}

TEST_F(SessionCoreTest, AnAssignmentWithoutAReferenceIsIgnored) {
  Connect();
  Send(AssignmentMessage({}));
  EXPECT_THAT(TakeActions<StartProbe>(), IsEmpty());
}

// ---- cancelling

TEST_F(SessionCoreTest, ACancelledProbeStopsAndItsResultIsDropped) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  Send(CancelMessage(Key(1)));
  EXPECT_THAT(TakeActions<CancelProbe>(), SizeIs(1));
  core_->OnProbeDone(Key(1), Measured(), Now());
  EXPECT_THAT(SentResults(), IsEmpty());
  EXPECT_FALSE(spool_.Has(Key(1)));
}

TEST_F(SessionCoreTest, ACancelledResultLeavesTheSpool) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeDone(Key(1), Measured(), Now());
  Send(CancelMessage(Key(1)));
  EXPECT_THAT(SentResults(), IsEmpty());
  EXPECT_FALSE(spool_.Has(Key(1)));
}

TEST_F(SessionCoreTest, ACancelledAttemptIsNotCalledRunning) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  Send(CancelMessage(Key(1)));
  Reconnect();
  EXPECT_EQ(Welcomed().running_size(), 0);
}

// ---- heartbeats and the clock

TEST_F(SessionCoreTest, HeartbeatsKeepTheIntervalAndListWhatIsUnderWay) {
  Connect();
  ReadAll();
  for (uint32_t task : {1, 2, 3}) Send(AssignmentMessage(Key(task)));  // the third is queued
  core_->OnProbeDone(Key(1), Measured(), Now());                       // not acknowledged
  ReadAll();
  Pass(absl::Seconds(9));
  EXPECT_THAT(ReadAll(), IsEmpty());
  EXPECT_EQ(core_->NextTimer(), steady_ + absl::Seconds(1));
  Pass(absl::Seconds(1));
  auto messages = ReadAll();
  ASSERT_THAT(messages, SizeIs(1));
  ASSERT_TRUE(messages[0].has_heartbeat());
  EXPECT_EQ(messages[0].heartbeat().running_size(), 3);
}

TEST_F(SessionCoreTest, AHeartbeatReplyGivesTheClockEstimateOfResults) {
  Connect();
  auto first = Read();
  ASSERT_TRUE(first->has_heartbeat());
  v1::CoordinatorMessage reply;
  *reply.mutable_heartbeat_reply()->mutable_sent_at() = first->heartbeat().sent_at();
  absl::Time received = wall_ - offset_ + absl::Milliseconds(10);
  *reply.mutable_heartbeat_reply()->mutable_received_at() = ToProto(received);
  *reply.mutable_heartbeat_reply()->mutable_replied_at() = ToProto(received);
  Pass(absl::Milliseconds(20));
  Send(reply);
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeDone(Key(1), Measured(), Now());
  v1::ClockEstimate clock = Kept(Key(1)).clock();
  EXPECT_EQ(FromProto(clock.offset()), offset_);
  EXPECT_LE(FromProto(clock.error_bound()), absl::Milliseconds(10.1));
}

TEST_F(SessionCoreTest, TheWelcomeAloneGivesAFirstEstimate) {
  core_->Start(Now());
  Read();
  Pass(absl::Milliseconds(200));
  Send(WelcomeMessage(wall_ - offset_ - absl::Milliseconds(50), absl::Seconds(10)));
  auto clock = core_->ClockAt(Now());
  ASSERT_TRUE(clock.has_value());
  absl::Duration error = absl::AbsDuration(FromProto(clock->offset()) - offset_);
  EXPECT_LE(error, FromProto(clock->error_bound()));
}

TEST_F(SessionCoreTest, AClockThatIsSetDuringAProbeWidensTheBound) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  wall_ += absl::Seconds(90);
  core_->OnProbeDone(Key(1), Measured(), Now());
  EXPECT_GE(FromProto(Kept(Key(1)).clock().error_bound()), absl::Seconds(90));
}

TEST_F(SessionCoreTest, ThreeIntervalsOfSilenceEndTheConnection) {
  Connect();
  for (int i = 0; i < 2; ++i) {
    ReadAll();
    Pass(absl::Seconds(10));
  }
  EXPECT_THAT(TakeActions<AbortStream>(), IsEmpty());
  ReadAll();
  Pass(absl::Seconds(11));
  EXPECT_THAT(TakeActions<AbortStream>(), SizeIs(1));
  EndStream(absl::CancelledError());
  Pass(absl::Seconds(30));
  Welcomed();
}

TEST_F(SessionCoreTest, ALargeResultOnASlowLineIsNotSilence) {
  Connect();
  ReadAll();
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeDone(Key(1), Measured(std::string(4 << 20, 'x')), Now());
  ASSERT_TRUE(core_->NextMessage(Now())->has_result());  // and its end is far
  Pass(absl::Seconds(120));
  EXPECT_THAT(TakeActions<AbortStream>(), IsEmpty());
  Pass(absl::Seconds(300));
  EXPECT_THAT(TakeActions<AbortStream>(), SizeIs(1));
}

TEST_F(SessionCoreTest, GarbageIsIgnored) {
  Connect();
  ReadAll();
  Send({});
  Send(WelcomeMessage(wall_ + absl::Hours(5), absl::Milliseconds(1)));
  Send(AckMessage({"", 0, 0}));
  Send(CancelMessage(Key(99)));
  v1::CoordinatorMessage reply;
  reply.mutable_heartbeat_reply()->mutable_sent_at()->set_seconds(5);
  Send(reply);
  EXPECT_THAT(ReadAll(), IsEmpty());
  EXPECT_EQ(core_->NextTimer(), steady_ + absl::Seconds(10));
  EXPECT_TRUE(core_->open());
}

// ---- progress

TEST_F(SessionCoreTest, ProgressIsTheNewestAndAtMostOneASecond) {
  Connect();
  ReadAll();
  Send(AssignmentMessage(Key(1)));
  core_->OnProbeProgress(Key(1), 0.1);
  core_->OnProbeProgress(Key(1), 0.2);
  auto messages = ReadAll();
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_EQ(messages[0].progress().fraction(), 0.2);
  core_->OnProbeProgress(Key(1), 0.3);
  EXPECT_THAT(ReadAll(), IsEmpty());
  EXPECT_EQ(core_->NextTimer(), steady_ + absl::Seconds(1));
  Pass(absl::Seconds(1));
  EXPECT_THAT(ReadAll(), SizeIs(1));
}

// ---- the end of a stream

TEST_F(SessionCoreTest, WaitsGrowUntilASessionHasLasted) {
  random_ = 0.99999;
  core_->Start(Now());
  std::vector<absl::Duration> waits;
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(TakeActions<OpenStream>(), SizeIs(1));
    EndStream();
    waits.push_back(core_->NextTimer() - steady_);
    Pass(core_->NextTimer() - steady_);
  }
  const double expected[] = {0.5, 1, 2, 4, 8, 16, 30, 30};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(absl::ToDoubleSeconds(waits[i]), expected[i], 0.01);

  // A session that ends at once is no better.
  Welcomed();
  EndStream();
  EXPECT_GT(core_->NextTimer() - steady_, absl::Seconds(29));
  Pass(core_->NextTimer() - steady_);
  // One that has lasted is.
  Welcomed();
  for (int i = 0; i < 2; ++i) {
    auto heartbeat = Read();
    ASSERT_TRUE(heartbeat->has_heartbeat());
    v1::CoordinatorMessage reply;
    *reply.mutable_heartbeat_reply()->mutable_sent_at() = heartbeat->heartbeat().sent_at();
    Send(reply);
    Pass(absl::Seconds(10));
  }
  EndStream();
  EXPECT_LT(core_->NextTimer() - steady_, absl::Seconds(1));
}

TEST_F(SessionCoreTest, WaitsAreSpreadFromNothing) {
  random_ = 0;
  core_->Start(Now());
  EndStream();
  EXPECT_EQ(core_->NextTimer(), steady_);
}

TEST_F(SessionCoreTest, ARevokedAgentEnds) {
  for (const absl::Status& status :
       {absl::UnauthenticatedError("revoked"), absl::PermissionDeniedError("no")}) {
    Make();
    Connect();
    Send(AssignmentMessage(Key(1)));
    EndStream(status);
    EXPECT_THAT(TakeActions<CancelProbe>(), SizeIs(1));
    auto finish = TakeActions<Finish>();
    ASSERT_THAT(finish, SizeIs(1));
    EXPECT_EQ(finish[0].status, status);
    EXPECT_TRUE(core_->ended());
    EXPECT_EQ(core_->NextTimer(), absl::InfiniteDuration());
    actions_.clear();
  }
}

TEST_F(SessionCoreTest, DrainComesBackAfterTheDelayWhileProbesGoOn) {
  Connect();
  Send(AssignmentMessage(Key(1)));
  v1::CoordinatorMessage drain;
  *drain.mutable_drain()->mutable_reconnect_after() = ToProto(absl::Seconds(20));
  Send(drain);
  EXPECT_THAT(TakeActions<CloseStream>(), SizeIs(1));
  EXPECT_THAT(TakeActions<CancelProbe>(), IsEmpty());
  Send(AckMessage(Key(5)));  // still listens
  EndStream(absl::UnavailableError("stopping"));
  Pass(absl::Seconds(19));
  EXPECT_THAT(TakeActions<OpenStream>(), IsEmpty());
  Pass(absl::Seconds(5));
  EXPECT_EQ(Welcomed().running_size(), 1);
}

TEST_F(SessionCoreTest, AStreamThatDoesNotCloseIsCut) {
  Connect();
  v1::CoordinatorMessage drain;
  drain.mutable_drain();
  Send(drain);
  Pass(absl::Seconds(5));
  EXPECT_THAT(TakeActions<AbortStream>(), SizeIs(1));
  Pass(absl::Seconds(5));
  EXPECT_THAT(TakeActions<AbortStream>(), IsEmpty());
}

TEST_F(SessionCoreTest, ANewIdentityConnectsAgainAtOnce) {
  Connect();
  core_->Reconnect(Now());
  EXPECT_THAT(TakeActions<CloseStream>(), SizeIs(1));
  EndStream(absl::OkStatus());
  Pass(absl::ZeroDuration());
  Welcomed();
}

TEST_F(SessionCoreTest, StopCancelsClosesAndEnds) {
  Connect();
  for (uint32_t task : {1, 2, 3}) Send(AssignmentMessage(Key(task)));
  core_->Stop(Now());
  EXPECT_THAT(TakeActions<CancelProbe>(), SizeIs(2));
  EXPECT_THAT(TakeActions<CloseStream>(), SizeIs(1));
  core_->OnProbeDone(Key(1), Measured(), Now());
  Send(AssignmentMessage(Key(4)));
  EXPECT_THAT(spool_.List(), IsEmpty());
  EndStream(absl::OkStatus());
  auto finish = TakeActions<Finish>();
  ASSERT_THAT(finish, SizeIs(1));
  EXPECT_TRUE(finish[0].status.ok());
  EXPECT_EQ(core_->threads(), 1u);  // the second, still on its way
}

TEST_F(SessionCoreTest, StopEndsInEveryState) {
  struct Case {
    const char* name;
    std::function<void()> prepare;
  };
  const Case cases[] = {
      {"not started", [] {}},
      {"opening", [this] { core_->Start(Now()); }},
      {"open", [this] { Connect(); }},
      {"waiting",
       [this] {
         Connect();
         EndStream();
       }},
      {"closing",
       [this] {
         Connect();
         core_->Reconnect(Now());
       }},
      {"cut off",
       [this] {
         core_->Start(Now());
         Pass(absl::Minutes(1));
       }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Make();
    actions_.clear();
    c.prepare();
    core_->Stop(Now());
    core_->Stop(Now());
    for (int i = 0; i < 5 && !core_->ended(); ++i) {
      Pass(absl::Seconds(1));
      if (!TakeActions<AbortStream>().empty()) EndStream(absl::CancelledError());
    }
    EXPECT_TRUE(core_->ended());
    EXPECT_THAT(TakeActions<Finish>(), SizeIs(1));
  }
}

}  // namespace
}  // namespace assay::session
