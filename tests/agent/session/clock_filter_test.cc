#include "agent/session/clock_filter.h"

#include <gtest/gtest.h>

#include <random>

#include "common/base/proto_time.h"

namespace assay::session {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1796000000);

Moment At(absl::Duration since_start, absl::Duration wall_offset = absl::ZeroDuration()) {
  return {kStart + since_start + wall_offset, since_start};
}
// The true time of the coordinator.
absl::Time True(absl::Duration since_start) { return kStart + since_start; }

absl::Duration Offset(const v1::ClockEstimate& estimate) { return FromProto(estimate.offset()); }
absl::Duration Bound(const v1::ClockEstimate& estimate) {
  return FromProto(estimate.error_bound());
}

TEST(ClockFilter, KnowsNothingAtFirst) {
  EXPECT_FALSE(ClockFilter().Estimate(At(absl::ZeroDuration())).has_value());
}

TEST(ClockFilter, ReadsTheOffsetOutOfASymmetricExchange) {
  ClockFilter filter;
  // An hour fast; 10 ms there, 5 ms at the coordinator, 10 ms back.
  filter.Add(At(absl::ZeroDuration(), absl::Hours(1)), True(absl::Milliseconds(10)),
             True(absl::Milliseconds(15)), At(absl::Milliseconds(25), absl::Hours(1)));
  auto estimate = filter.Estimate(At(absl::Milliseconds(25), absl::Hours(1)));
  EXPECT_EQ(Offset(*estimate), absl::Hours(1));
  EXPECT_EQ(Bound(*estimate), absl::Milliseconds(10));
}

TEST(ClockFilter, BelievesTheShortestRoundTrip) {
  ClockFilter filter;
  // 2 ms, symmetric; then 100 ms of which 98 are on the way there.
  filter.Add(At(absl::Seconds(0)), True(absl::Milliseconds(1)), True(absl::Milliseconds(1)),
             At(absl::Milliseconds(2)));
  filter.Add(At(absl::Seconds(1)), True(absl::Milliseconds(1098)), True(absl::Milliseconds(1098)),
             At(absl::Milliseconds(1100)));
  auto estimate = filter.Estimate(At(absl::Milliseconds(1100)));
  EXPECT_EQ(Offset(*estimate), absl::ZeroDuration());
  EXPECT_LT(Bound(*estimate), absl::Milliseconds(1.2));
}

TEST(ClockFilter, ForgetsAllButTheLastEight) {
  ClockFilter filter;
  filter.Add(At(absl::Seconds(0)), True(absl::Milliseconds(1)), True(absl::Milliseconds(1)),
             At(absl::Milliseconds(2)));
  for (int i = 1; i <= 8; ++i) {
    absl::Duration sent = absl::Seconds(i);
    filter.Add(At(sent), True(sent + absl::Milliseconds(20)), True(sent + absl::Milliseconds(20)),
               At(sent + absl::Milliseconds(40)));
  }
  EXPECT_GE(Bound(*filter.Estimate(At(absl::Seconds(9)))), absl::Milliseconds(20));
}

TEST(ClockFilter, TheBoundGrowsWithTheAgeOfTheExchange) {
  ClockFilter filter;
  filter.Add(At(absl::Seconds(0)), True(absl::Milliseconds(1)), True(absl::Milliseconds(1)),
             At(absl::Milliseconds(2)));
  absl::Duration young = Bound(*filter.Estimate(At(absl::Seconds(1))));
  absl::Duration old = Bound(*filter.Estimate(At(absl::Seconds(1001))));
  EXPECT_EQ(old - young, absl::Milliseconds(50));  // 50 ppm of 1000 s
}

TEST(ClockFilter, AWallClockThatIsSetShowsAtOnce) {
  ClockFilter filter;
  filter.Add(At(absl::Seconds(0)), True(absl::Milliseconds(1)), True(absl::Milliseconds(1)),
             At(absl::Milliseconds(2)));
  auto estimate = filter.Estimate(At(absl::Seconds(1), -absl::Minutes(7)));
  EXPECT_EQ(Offset(*estimate), -absl::Minutes(7));
}

TEST(ClockFilter, IgnoresExchangesThatCannotBe) {
  ClockFilter filter;
  // Answered before it was received; and longer at the coordinator than it was away.
  filter.Add(At(absl::Seconds(0)), True(absl::Seconds(2)), True(absl::Seconds(1)),
             At(absl::Seconds(3)));
  filter.Add(At(absl::Seconds(0)), True(absl::Seconds(0)), True(absl::Seconds(5)),
             At(absl::Seconds(1)));
  EXPECT_FALSE(filter.Estimate(At(absl::Seconds(3))).has_value());
}

TEST(ClockFilter, TheTrueOffsetIsAlwaysWithinTheBound) {
  std::mt19937 random(7);
  std::exponential_distribution<double> delay(1.0 / 0.03);
  for (int round = 0; round < 200; ++round) {
    ClockFilter filter;
    absl::Duration offset = absl::Seconds(std::uniform_real_distribution<>(-4000, 4000)(random));
    absl::Duration now = absl::Seconds(5);
    // This host's crystal is 40 ppm fast.
    auto host = [&](absl::Duration true_time) {
      absl::Duration steady = true_time * (1 + 40e-6);
      return Moment{kStart + steady + offset, steady};
    };
    for (int i = 0; i < 20; ++i) {
      absl::Duration there = absl::Seconds(delay(random)), back = absl::Seconds(delay(random));
      filter.Add(host(now), True(now + there), True(now + there), host(now + there + back));
      now += there + back + absl::Seconds(10);
      auto estimate = filter.Estimate(host(now));
      absl::Duration truth = host(now).wall - True(now);
      ASSERT_LE(absl::AbsDuration(Offset(*estimate) - truth),
                Bound(*estimate) + absl::Nanoseconds(10));
    }
  }
}

}  // namespace
}  // namespace assay::session
