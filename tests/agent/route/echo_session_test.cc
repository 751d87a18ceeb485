#include "agent/probe/route/echo_session.h"

#include <cerrno>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace assay::agent::route {
namespace echo_session_test {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr uint64_t kCookie = 0xC0FFEE;
constexpr Identifier kId{42};

IpAddress Address(uint8_t last) { return {.bytes = {192, 0, 2, last}}; }

// A reply to request `index` of `session`, as bytes and their reading.
struct MadeReply {
  std::vector<uint8_t> message;
  EchoReply reply;
};
MadeReply MakeReply(uint32_t index, const EchoPlan& plan, uint64_t cookie = kCookie) {
  MadeReply made;
  EchoRequest request{
      .id = kId, .sequence = {static_cast<uint16_t>(index + 1)}, .cookie = cookie, .index = index};
  BuildEchoRequest(IpVersion::kV4, request, plan.payload_bytes, &made.message);
  made.reply = {.id = kId,
                .sequence = request.sequence,
                .payload = Bytes(made.message).subspan(kIcmpHeaderBytes)};
  return made;
}

// One thing that happens, at a time in milliseconds.
struct Event {
  enum What {
    kSend,
    kRefuse,     // by ENOBUFS
    kSendStamp,  // the kernel says the request of `index` left at at_ms
    kReply,
    kKernelReply,  // read 5 ms after the kernel stamped it at at_ms
    kCorrupt,      // payload changed
    kBadSum,       // checksum wrong
    kStranger,     // right in all, but from another address
    kOtherCookie,  // somebody else's ping
    kUnreachable,  // error that quotes the request
  } what;
  double at_ms;
  uint32_t index = 0;  // of the request concerned
};

struct Scenario {
  const char* name;
  uint32_t count;
  std::vector<Event> events;
  double end_ms;
  // Expected.
  std::vector<double> rtt_ms;  // -1: unanswered
  uint64_t duplicates = 0, duplicated = 0, reordered = 0, corrupted = 0, errors = 0, refused = 0;
  bool truncated = false;
};

// Time-out 100 ms, hence a grace of 100 ms.
const EchoPlan kPlan{.interval_ns = 10 * kMs, .timeout_ns = 100 * kMs, .payload_bytes = 56};

using E = Event;
const Scenario kScenarios[] = {
    {"AllAnswered",
     2,
     {{E::kSend, 0}, {E::kReply, 7, 0}, {E::kSend, 10}, {E::kReply, 15, 1}},
     30,
     {7, 5}},
    {"OneLost", 2, {{E::kSend, 0}, {E::kSend, 10}, {E::kReply, 15, 1}}, 300, {-1, 5}},
    {"LateIsKeptWithItsDelay",
     2,
     {{E::kSend, 0}, {E::kSend, 10}, {E::kReply, 15, 1}, {E::kReply, 130, 0}},
     300,
     {130, 5}},
    {"LateDuringALongProbeCountsHoweverLate",
     3,
     {{E::kSend, 0},
      {E::kSend, 500},
      {E::kReply, 505, 1},
      {E::kReply, 700, 0},
      {E::kSend, 900},
      {E::kReply, 901, 2}},
     950,
     {700, 5, 1}},
    {"DuplicatesAreCountedAndDoNotChangeTheDelay",
     2,
     {{E::kSend, 0},
      {E::kReply, 4, 0},
      {E::kReply, 6, 0},
      {E::kReply, 8, 0},
      {E::kSend, 10},
      {E::kReply, 12, 1}},
     30,
     {4, 2},
     /*duplicates=*/2,
     /*duplicated=*/1},
    {"Reordered",
     4,
     {{E::kSend, 0},
      {E::kSend, 10},
      {E::kSend, 20},
      {E::kSend, 30},
      {E::kReply, 31, 1},
      {E::kReply, 32, 0},
      {E::kReply, 33, 3},
      {E::kReply, 34, 2}},
     60,
     {32, 21, 14, 3},
     0,
     0,
     /*reordered=*/2},
    {"LateIsNeitherReorderedNorOvertaking",
     2,
     {{E::kSend, 0}, {E::kSend, 10}, {E::kReply, 15, 1}, {E::kReply, 150, 0}},
     300,
     {150, 5}},
    {"CorruptedIsLost",
     2,
     {{E::kSend, 0}, {E::kCorrupt, 5, 0}, {E::kSend, 10}, {E::kBadSum, 15, 1}},
     300,
     {-1, -1},
     0,
     0,
     0,
     /*corrupted=*/2},
    {"CorruptedThenIntactIsAnswered",
     1,
     {{E::kSend, 0}, {E::kCorrupt, 5, 0}, {E::kReply, 9, 0}},
     30,
     {9},
     0,
     0,
     0,
     /*corrupted=*/1},
    {"StrangersAreIgnored",
     1,
     {{E::kSend, 0}, {E::kStranger, 5, 0}, {E::kOtherCookie, 6, 0}, {E::kReply, 9, 0}},
     30,
     {9}},
    {"ReplyToWhatWasNotSentIsIgnored",
     2,
     {{E::kSend, 0}, {E::kReply, 1, 1}, {E::kSend, 10}, {E::kReply, 12, 0}, {E::kReply, 15, 1}},
     40,
     {12, 5}},
    {"ErrorsAreCountedAndTheRequestStaysOpen",
     2,
     {{E::kSend, 0},
      {E::kUnreachable, 5, 0},
      {E::kSend, 10},
      {E::kUnreachable, 15, 1},
      {E::kReply, 20, 1},
      {E::kUnreachable, 21, 9}},
     300,
     {-1, 10},
     0,
     0,
     0,
     0,
     /*errors=*/2},
    {"RefusedIsNoLossAndLeavesNoRow",
     3,
     {{E::kSend, 0}, {E::kReply, 5, 0}, {E::kRefuse, 10}, {E::kSend, 20}, {E::kReply, 22, 2}},
     40,
     {5, 2},
     0,
     0,
     0,
     0,
     0,
     /*refused=*/1},
    {"KernelStampsAreUsedWhereBothAreThere",
     2,
     {{E::kSend, 0},
      {E::kSendStamp, 1, 0},
      {E::kKernelReply, 8, 0},
      {E::kSend, 20},
      {E::kKernelReply, 27, 1}},
     60,
     {7, 7}},
    {"ImpossibleSendStampIsNotBelieved",
     1,
     {{E::kSend, 10}, {E::kSendStamp, 9, 0}, {E::kKernelReply, 18, 0}},
     60,
     {8}},
    {"CutShortLeavesOutWhatIsNotSettledAnsweredOrNot",
     5,
     {{E::kSend, 0},
      {E::kSend, 10},
      {E::kReply, 15, 1},
      {E::kSend, 60},
      {E::kReply, 65, 2},
      {E::kSend, 70}},
     120,
     {-1, 5},
     0,
     0,
     0,
     0,
     0,
     0,
     /*truncated=*/true},
    {"EndsAtOnceWhenAllAreRefused",
     2,
     {{E::kRefuse, 0}, {E::kRefuse, 10}},
     10,
     {},
     0,
     0,
     0,
     0,
     0,
     2},
};

void Play(const Event& event, const EchoPlan& plan, EchoSession* session) {
  auto at_ns = static_cast<int64_t>(event.at_ms * kMs);
  MadeReply made =
      MakeReply(event.index, plan, event.what == Event::kOtherCookie ? kCookie + 1 : kCookie);
  Stamp stamp{.user_ns = at_ns};
  switch (event.what) {
    case Event::kSend:
      return session->OnSent(at_ns);
    case Event::kRefuse:
      return session->OnRefused(at_ns, ENOBUFS);
    case Event::kSendStamp:
      return session->OnSendStamp(event.index, at_ns);
    case Event::kKernelReply:
      stamp = {.user_ns = at_ns + 5 * kMs, .kernel_ns = at_ns};
      break;
    case Event::kCorrupt:
      made.message[50] ^= 1;
      break;
    case Event::kBadSum:
      made.reply.checksum_ok = false;
      break;
    case Event::kUnreachable:
      session->OnError({.type = 3,
                        .code = 1,
                        .quoted_destination = Address(1),
                        .id = kId,
                        .sequence = made.reply.sequence},
                       "192.0.2.254");
      return;
    default:
      break;
  }
  session->OnReply(Address(event.what == Event::kStranger ? 2 : 1), made.reply, stamp);
}

class EchoSessionScenario : public ::testing::TestWithParam<Scenario> {};

TEST_P(EchoSessionScenario, EndsAsItShould) {
  const Scenario& scenario = GetParam();
  EchoPlan plan = kPlan;
  plan.count = scenario.count;
  EchoSession session(plan, Address(1), kId, kCookie, 1, 0);
  for (const Event& event : scenario.events) Play(event, plan, &session);
  auto end_ns = static_cast<int64_t>(scenario.end_ms * kMs);
  EXPECT_EQ(session.Done(end_ns), !scenario.truncated);

  EchoSession::Outcome outcome = session.Finish(end_ns, 0);
  std::vector<double> rtt_ms;
  for (int64_t rtt_ns : outcome.evidence.rtt_ns()) {
    rtt_ms.push_back(rtt_ns < 0 ? -1 : static_cast<double>(rtt_ns) / kMs);
  }
  EXPECT_EQ(rtt_ms, scenario.rtt_ms);
  EXPECT_EQ(outcome.evidence.send_offset_ns_size(), outcome.evidence.rtt_ns_size());
  EXPECT_EQ(outcome.evidence.duplicates(), scenario.duplicates);
  EXPECT_EQ(outcome.evidence.duplicated_requests(), scenario.duplicated);
  EXPECT_EQ(outcome.evidence.reordered(), scenario.reordered);
  EXPECT_EQ(outcome.evidence.corrupted(), scenario.corrupted);
  uint64_t errors = 0;
  for (const v1::IcmpErrorCount& error : outcome.evidence.errors()) errors += error.count();
  EXPECT_EQ(errors, scenario.errors);
  EXPECT_EQ(outcome.evidence.send_failures(), scenario.refused);
  EXPECT_EQ(outcome.truncated, scenario.truncated);
}

INSTANTIATE_TEST_SUITE_P(All, EchoSessionScenario, ::testing::ValuesIn(kScenarios),
                         [](const auto& info) { return std::string(info.param.name); });

EchoSession SessionOf(uint32_t count) {
  EchoPlan plan = kPlan;
  plan.count = count;
  return EchoSession(plan, Address(1), kId, kCookie, 1, 0);
}

TEST(EchoSession, WaitsTheTimeOutAndTheGraceForTheLastRequest) {
  EchoSession session = SessionOf(1);
  EXPECT_FALSE(session.Done(1'000'000 * kMs)) << "nothing was sent yet";
  session.OnSent(0);
  EXPECT_EQ(session.DoneAt(), 200 * kMs);
  EXPECT_FALSE(session.Done(200 * kMs - 1));
  EXPECT_TRUE(session.Done(200 * kMs));
}

TEST(EchoSession, GraceIsAtMostTwoSeconds) {
  EchoPlan plan = kPlan;
  plan.count = 1;
  plan.timeout_ns = 5000 * kMs;
  EchoSession session(plan, Address(1), kId, kCookie, 1, 0);
  session.OnSent(0);
  EXPECT_EQ(session.DoneAt(), 7000 * kMs);
}

TEST(EchoSession, EndsSoonAfterTheLastAnswer) {
  EchoSession session = SessionOf(1);
  session.OnSent(0);
  MadeReply made = MakeReply(0, session.plan());
  session.OnReply(Address(1), made.reply, {.user_ns = 3 * kMs});
  EXPECT_LE(session.DoneAt(), 20 * kMs);
}

TEST(EchoSession, SourcesSayTheWorstOfAllPackets) {
  EchoSession session = SessionOf(2);
  for (uint32_t i : {0u, 1u}) {
    session.OnSent(10 * i * kMs);
    session.OnSendStamp(i, 10 * i * kMs);
    MadeReply made = MakeReply(i, session.plan());
    Stamp stamp{.user_ns = (10 * i + 5) * kMs};
    if (i == 0) stamp.kernel_ns = 4 * kMs;
    session.OnReply(Address(1), made.reply, stamp);
  }
  EchoSession::Outcome outcome = session.Finish(100 * kMs, 0);
  EXPECT_EQ(outcome.evidence.send_source(), v1::TIMESTAMP_SOURCE_KERNEL);
  EXPECT_EQ(outcome.evidence.receive_source(), v1::TIMESTAMP_SOURCE_USER);
  EXPECT_EQ(outcome.user_timed, 1u);
}

TEST(EchoSession, SequenceNumbersWrapAndStillTellRequestsApart) {
  constexpr uint32_t kCount = 70000;
  EchoSession session = SessionOf(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(session.Next().sequence.value, static_cast<uint16_t>(i + 1));
    session.OnSent(i * kMs);
  }
  // Requests 5 and 65541 share a sequence number.
  for (uint32_t i : {65541u, 5u}) {
    MadeReply made = MakeReply(i, session.plan());
    EXPECT_EQ(session.OnReply(Address(1), made.reply, {.user_ns = kCount * kMs}),
              EchoSession::Match::kFirst);
  }
  EchoSession::Outcome outcome = session.Finish((kCount + 1000) * kMs, 0);
  EXPECT_EQ(outcome.evidence.rtt_ns(5), (kCount - 5) * kMs);
  EXPECT_EQ(outcome.evidence.rtt_ns(65541), (kCount - 65541) * kMs);
  EXPECT_EQ(outcome.evidence.rtt_ns(6), -1);
}

TEST(EchoSession, DamagedCookieIsDamageOnlyWhereTheKernelVouchesForTheReply) {
  EchoSession session = SessionOf(1);
  session.OnSent(0);
  MadeReply made = MakeReply(0, session.plan(), kCookie ^ 1);
  EXPECT_EQ(session.OnReply(Address(1), made.reply, {.user_ns = kMs}),
            EchoSession::Match::kForeign);
  EXPECT_EQ(session.OnReply(Address(1), made.reply, {.user_ns = kMs}, true),
            EchoSession::Match::kCorrupted);
}

TEST(EchoSession, ErrorsAreKeptApartByKindAndSenderUpToALimit) {
  EchoSession session = SessionOf(1);
  session.OnSent(0);
  IcmpError error{
      .type = 11, .code = 0, .quoted_destination = Address(1), .id = kId, .sequence = {1}};
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(session.OnError(error, std::to_string(i)));
  EchoSession::Outcome outcome = session.Finish(1000 * kMs, 0);
  EXPECT_LE(outcome.evidence.errors_size(), 257);
  uint64_t total = 0;
  for (const v1::IcmpErrorCount& kind : outcome.evidence.errors()) total += kind.count();
  EXPECT_EQ(total, 1000u);
  error.quoted_destination = Address(2);
  EXPECT_FALSE(session.OnError(error, "x"));
}

}  // namespace
}  // namespace echo_session_test
}  // namespace assay::agent::route
