#include "core/statistics/proportion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/statistics/runs_to_decide.h"
#include "tests/core/statistics/oracle.h"

namespace assay::statistics {
namespace {

// Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17
// (1998) 857-872, table I: methods 3 (Wilson) and 5 (Clopper-Pearson) at 95 %.
struct PrintedInterval {
  double events, trials;
  Interval wilson, exact;
};
constexpr PrintedInterval kNewcombe[] = {
    {81, 263, {0.2553, 0.3662}, {0.2527, 0.3676}},
    {15, 148, {0.0624, 0.1605}, {0.0578, 0.1617}},
    {0, 20, {0.0000, 0.1611}, {0.0000, 0.1684}},
    {1, 29, {0.0061, 0.1718}, {0.0009, 0.1776}},
};

TEST(WilsonTest, AgreesWithNewcombe) {
  for (const PrintedInterval& row : kNewcombe) {
    Interval interval = Wilson(row.events, row.trials, 0.95);
    EXPECT_NEAR(interval.low, row.wilson.low, 5e-5) << row.events << "/" << row.trials;
    EXPECT_NEAR(interval.high, row.wilson.high, 5e-5) << row.events << "/" << row.trials;
  }
}

TEST(WilsonTest, EndsSolveTheScoreEquation) {
  // |p - p0| = z sqrt(p0 (1 - p0) / n) at both ends.
  Interval interval = Wilson(37, 1000, 0.99);
  for (double end : {interval.low, interval.high}) {
    EXPECT_NEAR(std::abs(0.037 - end) / std::sqrt(end * (1 - end) / 1000), 2.575829304, 1e-8);
  }
}

TEST(ClopperPearsonTest, AgreesWithNewcombe) {
  for (const PrintedInterval& row : kNewcombe) {
    Interval interval = ClopperPearson(row.events, row.trials, 0.95);
    EXPECT_NEAR(interval.low, row.exact.low, 5e-5) << row.events << "/" << row.trials;
    EXPECT_NEAR(interval.high, row.exact.high, 5e-5) << row.events << "/" << row.trials;
  }
}

TEST(ClopperPearsonTest, EndsLeaveExactlyTheTailsOfTheBinomial) {
  for (double confidence : {0.9, 0.95, 0.99}) {
    const double tail = (1 - confidence) / 2;
    for (int64_t n : {1, 5, 29, 400, 3000}) {
      for (int64_t x = 0; x <= n; x += 1 + n / 7) {
        Interval interval = ClopperPearson(x, n, confidence);
        if (x < n) {
          EXPECT_NEAR(static_cast<double>(SlowBinomialCdf(x, n, interval.high)), tail, 1e-10)
              << x << "/" << n;
        }
        if (x > 0) {
          EXPECT_NEAR(static_cast<double>(SlowBinomialCdf(x - 1, n, interval.low)), 1 - tail, 1e-10)
              << x << "/" << n;
        }
      }
    }
  }
}

TEST(ClopperPearsonTest, NoLossFollowsTheRuleOfThree) {
  // One-sided 95 % is two-sided 90 %: 0 in n proves at most 3/n.
  EXPECT_NEAR(ClopperPearson(0, 100, 0.90).high, 0.0295, 5e-5);
  EXPECT_NEAR(ClopperPearson(0, 3000, 0.90).high, 0.000998, 5e-7);
  EXPECT_NEAR(ClopperPearson(0, 400, 0.95).high, 1 - std::pow(0.025, 1.0 / 400), 1e-12);
}

TEST(ClopperPearsonTest, NothingIsKnownOfNoTrials) {
  EXPECT_EQ(ClopperPearson(0, 0, 0.95).low, 0);
  EXPECT_EQ(ClopperPearson(0, 0, 0.95).high, 1);
}

struct Sent {
  uint64_t events, trials;
};

ClusteredProportion ProportionOf(const std::vector<Sent>& runs) {
  ClusteredProportion proportion;
  for (const Sent& run : runs) proportion.Add(run.events, run.trials);
  return proportion;
}

std::vector<Sent> Repeat(uint64_t events, uint64_t trials, size_t runs) {
  return std::vector<Sent>(runs, {events, trials});
}

Estimate EstimatedOf(const std::vector<Sent>& runs) { return *ProportionOf(runs).Estimated(0.95); }

TEST(ClusteredProportionTest, NothingWithoutATrial) {
  EXPECT_FALSE(ProportionOf({}).Estimated(0.95).has_value());
  EXPECT_FALSE(ProportionOf(Repeat(0, 0, 3)).Estimated(0.95).has_value());
  EXPECT_EQ(ProportionOf({}).Project(3, 0.95).high, 1);
}

TEST(ClusteredProportionTest, RunsWithoutTrialsAreNoRuns) {
  EXPECT_EQ(EstimatedOf({{1, 100}, {0, 0}, {2, 100}}).runs, 2);
}

TEST(ClusteredProportionTest, FourCleanRunsOfAHundredShowLessThanOnePercent) {
  Estimate estimate = EstimatedOf(Repeat(0, 100, 4));
  EXPECT_EQ(estimate.value, 0);
  EXPECT_EQ(estimate.interval.low, 0);
  EXPECT_NEAR(estimate.interval.high, 0.00918, 5e-6);
  EXPECT_EQ(estimate.effective_samples, 400);
}

TEST(ClusteredProportionTest, ThreeCleanRunsPayForNotKnowingHowRunsDiffer) {
  Estimate estimate = EstimatedOf(Repeat(0, 1000, 3));
  // (1.960755 / 4.302653)^2 of 3,000.
  EXPECT_NEAR(estimate.effective_samples, 3000 * 0.207670, 0.5);
  EXPECT_NEAR(estimate.interval.high, 1 - std::pow(0.025, 1 / (3000 * 0.207670)), 1e-6);
}

TEST(ClusteredProportionTest, OneRunCountsAsOneSample) {
  Estimate estimate = EstimatedOf(Repeat(0, 100000, 1));
  EXPECT_EQ(estimate.effective_samples, 1);
  EXPECT_NEAR(estimate.interval.high, 0.975, 1e-12);
  EXPECT_NEAR(EstimatedOf(Repeat(50000, 100000, 1)).effective_samples, 1, 1e-12);
}

TEST(ClusteredProportionTest, RunsThatAgreeAreWorthTheirSamplesLessStudentsT) {
  // 20 % in each of four runs of 100: deff is not taken below 1; (1.965927 / 3.182446)^2 = 0.38161.
  Estimate estimate = EstimatedOf(Repeat(20, 100, 4));
  EXPECT_EQ(estimate.design_effect, 1);
  EXPECT_NEAR(estimate.effective_samples, 152.64, 0.05);
  // The lower end is Korn & Graubard's without corrections.
  EXPECT_NEAR(estimate.interval.low, ClopperPearson(0.2 * 152.64, 152.64, 0.95).low, 1e-4);
}

TEST(ClusteredProportionTest, RunsThatDifferAreWorthLess) {
  // By hand: p = 0.2, residuals 20, -20, 20, -20: v = 4/3 * 1600 / 160000 = 1/75; 0.2*0.8/400 =
  // 1/2500; deff = 100/3.
  EXPECT_NEAR(EstimatedOf({{40, 100}, {0, 100}, {40, 100}, {0, 100}}).design_effect, 100.0 / 3,
              1e-9);
}

TEST(ClusteredProportionTest, UnequalRunsAreWeightedByTheirSamples) {
  // By hand: p = 30/300 = 0.1, residuals 5, 0, -5; v = 3/2 * 50 / 90000; deff = v / (0.09/300).
  Estimate estimate = EstimatedOf({{10, 50}, {10, 100}, {10, 150}});
  EXPECT_NEAR(estimate.value, 0.1, 1e-12);
  EXPECT_NEAR(estimate.design_effect, (1.5 * 50 / 90000) / (0.09 / 300), 1e-9);
}

TEST(ClusteredProportionTest, TheUpperEndAllowsForAnotherRunLikeTheWorst) {
  // By hand for 4, 0, 0, 0 of 100 each. With one more run of 4: p = 8/500; residuals 2.4, 2.4 and
  // three of -1.6: sum of squares 19.2; v = 5/4 * 19.2 / 250000 = 9.6e-5; deff = 9.6e-5 / (0.016 *
  // 0.984 / 500) = 3.04878; degrees min(3, max(3, 2)) = 3: n* = 400 / 3.04878 * 0.381606 = 50.0667;
  // unseen event 4 / 3.04878 = 1.312.
  Estimate estimate = EstimatedOf({{4, 100}, {0, 100}, {0, 100}, {0, 100}});
  EXPECT_NEAR(estimate.interval.high, BetaQuantile(0.975, 0.016 * 50.0667 + 1.312, 0.984 * 50.0667),
              1e-6);
}

TEST(ClusteredProportionTest, OneSampleARunIsTheExactInterval) {
  std::vector<Sent> runs = Repeat(0, 1, 27);
  runs.push_back({1, 1});
  runs.push_back({0, 1});
  Estimate estimate = EstimatedOf(runs);
  EXPECT_EQ(estimate.design_effect, 1);
  EXPECT_NEAR(estimate.interval.low, 0.0009, 5e-5);  // Newcombe's 1/29
  EXPECT_NEAR(estimate.interval.high, 0.1776, 5e-5);
}

TEST(ClusteredProportionTest, LossAndDeliveryMirrorEachOther) {
  std::vector<Sent> loss = {{5, 50}, {0, 100}, {7, 70}, {60, 100}};
  std::vector<Sent> delivery;
  for (const Sent& run : loss) delivery.push_back({run.trials - run.events, run.trials});
  Estimate lost = EstimatedOf(loss);
  Estimate delivered = EstimatedOf(delivery);
  EXPECT_NEAR(delivered.interval.low, 1 - lost.interval.high, 1e-12);
  EXPECT_NEAR(delivered.interval.high, 1 - lost.interval.low, 1e-12);
  EXPECT_NEAR(delivered.design_effect, lost.design_effect, 1e-9);
}

TEST(ClusteredProportionTest, EverythingLostIsAsCertainAsNothingLost) {
  Estimate estimate = EstimatedOf(Repeat(100, 100, 4));
  EXPECT_EQ(estimate.interval.high, 1);
  EXPECT_NEAR(estimate.interval.low, 1 - 0.00918, 5e-6);
}

TEST(ClusteredProportionTest, OrderOfRunsDoesNotMatter) {
  std::vector<Sent> runs = {{5, 50}, {0, 100}, {10, 100}, {1, 10}};
  Interval forward = EstimatedOf(runs).interval;
  Interval backward = EstimatedOf({runs.rbegin(), runs.rend()}).interval;
  EXPECT_EQ(forward.low, backward.low);
  EXPECT_EQ(forward.high, backward.high);
}

TEST(ClusteredProportionTest, IntervalContainsTheEstimate) {
  for (const std::vector<Sent>& runs :
       {Repeat(1, 2, 2), Repeat(1, 100, 5), std::vector<Sent>{{0, 10}, {10, 10}},
        std::vector<Sent>{{49, 50}, {1, 1000}, {0, 3}}, std::vector<Sent>{{1, 1}, {999, 1000}}}) {
    Estimate estimate = EstimatedOf(runs);
    EXPECT_LE(estimate.interval.low, estimate.value);
    EXPECT_GE(estimate.interval.high, estimate.value);
  }
}

TEST(ProjectTest, IsTheIntervalOfThatManyEqualRuns) {
  Interval projected = ProportionOf(Repeat(2, 100, 4)).Project(6, 0.95);
  Interval ten = EstimatedOf(Repeat(2, 100, 10)).interval;
  EXPECT_NEAR(projected.low, ten.low, 1e-12);
  EXPECT_NEAR(projected.high, ten.high, 1e-12);
}

uint32_t RunsUntilAtMost(const std::vector<Sent>& runs, double threshold) {
  ClusteredProportion proportion = ProportionOf(runs);
  return RunsToDecide([&](uint32_t more) {
    Interval interval = proportion.Project(more, 0.95);
    return interval.high <= threshold || interval.low > threshold;
  });
}

TEST(RunsToDecideTest, CleanRunsNeedAsManyAsTheRuleOfThreeSays) {
  // 367 clean samples show less than 1 % at 95 %; 3,688 less than 0.1 %.
  EXPECT_EQ(RunsUntilAtMost(Repeat(0, 50, 4), 0.01), 4);     // 8 x 50
  EXPECT_EQ(RunsUntilAtMost(Repeat(0, 100, 1), 0.01), 3);    // 4 x 100
  EXPECT_EQ(RunsUntilAtMost(Repeat(0, 100, 4), 0.001), 33);  // 37 x 100
}

TEST(RunsToDecideTest, IsTheFirstNumberThatDecides) {
  std::vector<Sent> runs = {{1, 100}, {0, 100}, {2, 100}, {1, 100}};
  const uint32_t more = RunsUntilAtMost(runs, 0.02);
  ASSERT_GT(more, 1);
  EXPECT_LE(ProportionOf(runs).Project(more, 0.95).high, 0.02);
  EXPECT_GT(ProportionOf(runs).Project(more - 1, 0.95).high, 0.02);
}

TEST(RunsToDecideTest, NoNumberDecidesAnEstimateThatEqualsItsThreshold) {
  EXPECT_EQ(RunsUntilAtMost(Repeat(1, 100, 4), 0.01), 0);
}

}  // namespace
}  // namespace assay::statistics
