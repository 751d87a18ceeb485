#include "agent/probe/route/clock_bridge.h"

#include "gtest/gtest.h"

namespace assay::agent::route {
namespace clock_bridge_test {
namespace {

constexpr int64_t kOffset = 1'796'000'000'000'000'000;  // real-time minus monotonic
constexpr int64_t kMs = 1'000'000;

// A reading at `at` that took 100 ns.
void Read(ClockBridge& bridge, int64_t at, int64_t offset) {
  bridge.OnReading(at, at + 50 + offset, at + 100);
}

TEST(ClockBridge, TrustsNothingBeforeTheFirstReading) {
  EXPECT_FALSE(ClockBridge().ToMonotonic(kOffset));
}

TEST(ClockBridge, ConvertsStampsBetweenReadings) {
  ClockBridge bridge;
  Read(bridge, 10 * kMs, kOffset);
  Read(bridge, 20 * kMs, kOffset);
  EXPECT_EQ(bridge.ToMonotonic(15 * kMs + kOffset), 15 * kMs);
  EXPECT_EQ(bridge.ToMonotonic(20 * kMs + kOffset), 20 * kMs);
  EXPECT_FALSE(bridge.ToMonotonic(9 * kMs + kOffset)) << "before anything is known";
  EXPECT_FALSE(bridge.ToMonotonic(21 * kMs + kOffset)) << "from the future";
  EXPECT_EQ(bridge.steps(), 0u);
}

TEST(ClockBridge, NoiseOfTheReadingsIsNoStepAndDoesNotMoveTheConversion) {
  ClockBridge bridge;
  Read(bridge, 10 * kMs, kOffset);
  Read(bridge, 20 * kMs, kOffset + 1500);
  Read(bridge, 30 * kMs, kOffset - 1500);
  // Interrupted for 5 ms between the readings: says little, and is not taken for a step.
  bridge.OnReading(40 * kMs, 40 * kMs + kOffset, 45 * kMs);
  EXPECT_EQ(bridge.steps(), 0u);
  EXPECT_EQ(bridge.ToMonotonic(35 * kMs + kOffset), 35 * kMs);
}

class Step : public ::testing::TestWithParam<int64_t> {};

TEST_P(Step, MakesStampsTakenAcrossItUntrustedAndLaterOnesRight) {
  ClockBridge bridge;
  Read(bridge, 10 * kMs, kOffset);
  // The clock is set by `step` at 15 ms; stamps at 14 and 16 ms; noticed at 20 ms.
  int64_t step = GetParam();
  Read(bridge, 20 * kMs, kOffset + step);
  EXPECT_EQ(bridge.steps(), 1u);
  for (int64_t stamp : {14 * kMs + kOffset, 16 * kMs + kOffset + step}) {
    EXPECT_FALSE(bridge.ToMonotonic(stamp)) << step;
  }
  Read(bridge, 30 * kMs, kOffset + step);
  EXPECT_EQ(bridge.ToMonotonic(25 * kMs + kOffset + step), 25 * kMs);
  EXPECT_EQ(bridge.steps(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, Step,
                         ::testing::Values(3'600'000 * kMs, -3'600'000 * kMs, 30 * kMs, -30 * kMs,
                                           kMs, -kMs, 10'000, -10'000));

}  // namespace
}  // namespace clock_bridge_test
}  // namespace assay::agent::route
