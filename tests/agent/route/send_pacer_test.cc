#include "agent/probe/route/send_pacer.h"

#include <set>

#include "gtest/gtest.h"

namespace assay::agent::route {
namespace send_pacer_test {
namespace {

constexpr int64_t kInterval = 1'000'000;

TEST(SendPacer, EveryGapIsTheIntervalGiveOrTakeATenthAndTheMeanIsTheInterval) {
  SendPacer pacer(kInterval, 7, 500);
  ASSERT_EQ(pacer.due_ns(), 500);
  std::set<int64_t> gaps;
  for (int i = 0; i < 10000; ++i) {
    int64_t before = pacer.due_ns();
    pacer.Advance(before);
    int64_t gap = pacer.due_ns() - before;
    gaps.insert(gap);
    ASSERT_GE(gap, kInterval * 9 / 10);
    ASSERT_LE(gap, kInterval * 11 / 10);
  }
  // The standard deviation of the mean is a tenth, over the root of 3 x 10000: 0.06 %.
  EXPECT_NEAR(static_cast<double>(pacer.due_ns() - 500) / 10000, kInterval, kInterval * 0.003);
  EXPECT_GT(gaps.size(), 9000u) << "gaps must differ";
}

TEST(SendPacer, SmallDelaysOfTheSenderDoNotAddUp) {
  SendPacer pacer(kInterval, 7, 0);
  for (int i = 0; i < 1000; ++i) pacer.Advance(pacer.due_ns() + kInterval / 5);
  EXPECT_NEAR(static_cast<double>(pacer.due_ns()), 1000.0 * kInterval, 1000.0 * kInterval * 0.01);
}

TEST(SendPacer, StallIsFollowedByAtMostOneShortGapAndNoBurst) {
  SendPacer pacer(kInterval, 7, 0);
  int64_t now = 1000 * kInterval;
  pacer.Advance(now);
  EXPECT_GE(pacer.due_ns() - now, kInterval * 45 / 100);
  for (int i = 0; i < 100; ++i) {
    now = pacer.due_ns();
    pacer.Advance(now);
    EXPECT_GE(pacer.due_ns() - now, kInterval * 9 / 10) << i;
  }
}

TEST(SendPacer, SameSeedSameTimes) {
  SendPacer a(kInterval, 1, 0), b(kInterval, 1, 0), c(kInterval, 2, 0);
  for (SendPacer* pacer : {&a, &b, &c}) pacer->Advance(0);
  EXPECT_EQ(a.due_ns(), b.due_ns());
  EXPECT_NE(a.due_ns(), c.due_ns());
}

}  // namespace
}  // namespace send_pacer_test
}  // namespace assay::agent::route
