#include "core/statistics/mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay::statistics {
namespace {

using Runs = std::vector<std::vector<double>>;

ClusteredMean MeanOf(const Runs& runs) {
  ClusteredMean mean;
  for (const std::vector<double>& run : runs) mean.Add(run);
  return mean;
}

TEST(ClusteredMeanTest, OneSampleARunIsStudentsInterval) {
  // Student, "The probable error of a mean", Biometrika 6 (1908), additional sleep by drug 1; R:
  // t.test(sleep$extra[1:10]) gives 0.75, [-0.5297804, 2.0297804]. The data are skewed to the
  // right, so that only the lower end is Student's own.
  Runs runs;
  for (double hours : {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}) {
    runs.push_back({hours});
  }
  Estimate estimate = *MeanOf(runs).Estimated(0.95);
  EXPECT_NEAR(estimate.value, 0.75, 1e-12);
  EXPECT_NEAR(estimate.interval.low, -0.5297804, 1e-7);
  // With 3.7, the farthest, once more: mean 11.2 / 11, sum of squares about it 36.71636; v = 11/10
  // * 36.71636 / 121 = 0.3337851; t(9) = 2.262157163.
  EXPECT_NEAR(estimate.interval.high, 11.2 / 11 + 2.262157163 * std::sqrt(0.3337851 * 11 / 10),
              1e-6);
}

TEST(ClusteredMeanTest, SkewMovesTheOtherEndOutwardsWhenMirrored) {
  Interval right = MeanOf({{0}, {0}, {1}, {9}}).Estimated(0.95)->interval;
  Interval left = MeanOf({{0}, {0}, {-1}, {-9}}).Estimated(0.95)->interval;
  EXPECT_NEAR(right.high, -left.low, 1e-12);
  EXPECT_NEAR(right.low, -left.high, 1e-12);
  EXPECT_GT(right.high - 2.5, 2.5 - right.low);
}

TEST(ClusteredMeanTest, UnequalRunsGiveTheRatioEstimator) {
  // By hand: sums 10, 60, 20 of 5, 10, 5 values: mean 4.5; residuals -12.5, 15, -2.5; v = 3/2 *
  // 387.5 / 400; t(2) = 4.302652730.
  Runs runs = {std::vector<double>(5, 2), std::vector<double>(10, 6), std::vector<double>(5, 4)};
  Estimate estimate = *MeanOf(runs).Estimated(0.95);
  const double half = 4.302652730 * std::sqrt(1.5 * 387.5 / 400);
  EXPECT_NEAR(estimate.value, 4.5, 1e-12);
  EXPECT_NEAR(estimate.interval.high, 4.5 + half, 1e-8);
  // The run of 2 is the farthest. With it once more: mean 4; residuals -10, 20, 0, -10; v = 4/3 *
  // 600 / 625.
  EXPECT_NEAR(estimate.interval.low, 4 - 4.302652730 * std::sqrt(1.28 * 25 / 20), 1e-8);
}

TEST(ClusteredMeanTest, RunsThatAgreeAreNotBetterThanIndependentSamples) {
  Runs runs(5, {1, 2, 3, 4, 5});
  Estimate estimate = *MeanOf(runs).Estimated(0.95);
  EXPECT_EQ(estimate.design_effect, 1);
  // s^2 = 50/24, n = 25, t(4) = 2.776445105.
  EXPECT_NEAR(estimate.interval.high - 3, 2.776445105 * std::sqrt(50.0 / 24 / 25), 1e-8);
}

TEST(ClusteredMeanTest, OneRunGivesNoBounds) {
  Estimate estimate = *MeanOf({{1, 2, 3}}).Estimated(0.95);
  EXPECT_EQ(estimate.value, 2);
  EXPECT_EQ(estimate.interval.low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(estimate.interval.high, std::numeric_limits<double>::infinity());
  EXPECT_EQ(estimate.effective_samples, 1);
}

TEST(ClusteredMeanTest, NothingWithoutAValue) {
  EXPECT_FALSE(MeanOf({{}, {}}).Estimated(0.95).has_value());
}

TEST(ClusteredMeanTest, LargeValuesKeepTheirDigits) {
  // Nanoseconds since 1970, one apart.
  Estimate estimate =
      *MeanOf({{1.7e18 + 0, 1.7e18 + 1024}, {1.7e18 + 512, 1.7e18 + 512}}).Estimated(0.95);
  EXPECT_EQ(estimate.value, 1.7e18 + 512);
  EXPECT_GT(estimate.interval.high, estimate.value);
  EXPECT_LT(estimate.interval.high, 1.7e18 + 12000);
}

TEST(ProjectMeanTest, MoreRunsNarrowByTheRootAndByStudentsT) {
  ClusteredMean mean = MeanOf({{1, 3}, {2, 4}, {1, 5}, {3, 3}});
  Estimate estimate = *mean.Estimated(0.95);
  // t(3) = 3.182446305, t(15) = 2.131449546.
  EXPECT_NEAR(mean.Project(12, 0.95).high - estimate.value,
              (estimate.interval.high - estimate.value) * 2.131449546 / 3.182446305 / 2, 1e-8);
}

TEST(ProjectMeanTest, OneRunIsProjectedAsIndependentSamples) {
  // s^2 = 2, n = 4 after one more run of two, t(1) = 12.70620474.
  EXPECT_NEAR(MeanOf({{1, 3}}).Project(1, 0.95).high, 2 + 12.70620474 * std::sqrt(2.0 / 4), 1e-7);
}

TEST(ProjectMeanTest, NothingIsPromisedFromOneValue) {
  EXPECT_EQ(MeanOf({{1}}).Project(1000, 0.95).high, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace assay::statistics
