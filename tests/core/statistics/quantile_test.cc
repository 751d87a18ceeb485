#include "core/statistics/quantile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/core/statistics/oracle.h"

namespace assay::statistics {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

using Runs = std::vector<std::vector<double>>;

ClusteredQuantile QuantileOf(const Runs& runs, double quantile) {
  ClusteredQuantile clustered(quantile);
  for (const std::vector<double>& run : runs) clustered.Add(run);
  return clustered;
}

// One run a value: independent samples 1 to n.
Runs OneToN(int n) {
  Runs runs;
  for (int i = 1; i <= n; ++i) runs.push_back({static_cast<double>(i)});
  return runs;
}

TEST(SampleQuantileTest, IsTheFirstValueThatCoversTheShare) {
  std::vector<double> twenty(20);
  std::iota(twenty.begin(), twenty.end(), 1);
  EXPECT_EQ(SampleQuantile(twenty, 0.5), 10);
  EXPECT_EQ(SampleQuantile(twenty, 0.95), 19);
  EXPECT_EQ(SampleQuantile(twenty, 0.951), 20);
  EXPECT_EQ(SampleQuantile(twenty, 0.99), 20);
  EXPECT_EQ(SampleQuantile(twenty, 0.01), 1);
  EXPECT_EQ(SampleQuantile({twenty.data(), 1}, 0.5), 1);
}

TEST(SampleQuantileTest, WholeRanksAreNotRoundedUp) {
  // 0.07 * 100 and 0.29 * 100 are a little above 7 and below 29 in binary.
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  for (int i = 1; i < 100; ++i) EXPECT_EQ(SampleQuantile(hundred, i / 100.0), i);
}

// Conover, Practical Nonparametric Statistics, 3rd ed. 1999, section 3.2 with table A3 (binomial):
// the median of 10 lies between the 2nd and the 9th at 95 %, of 20 between the 6th and the 15th.
TEST(ClusteredQuantileTest, MediansAgreeWithPrintedTables) {
  struct {
    int n;
    double low, high;
  } cases[] = {{6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {5, -kNone, kNone}};
  for (const auto& c : cases) {
    Interval interval = QuantileOf(OneToN(c.n), 0.5).Estimated(0.95)->interval;
    EXPECT_EQ(interval.low, c.low) << c.n;
    EXPECT_EQ(interval.high, c.high) << c.n;
  }
}

// The largest l with P(B <= l - 1) <= tail and the smallest u with P(B >= u) <= tail, by summing.
TEST(ClusteredQuantileTest, IndependentSamplesGiveTheExactOrderStatistics) {
  for (double quantile : {0.5, 0.9, 0.95, 0.99}) {
    for (double confidence : {0.9, 0.95, 0.99}) {
      const long double tail = (1.0L - confidence) / 2;
      for (int n : {1, 4, 40, 72, 150, 400}) {
        auto below = [&](int rank) { return SlowBinomialCdf(rank - 1, n, quantile); };
        int low = 0;
        while (low < n && below(low + 1) <= tail) ++low;
        int high = 1;
        while (high <= n && 1 - below(high) > tail + 1e-15L) ++high;

        Interval interval = QuantileOf(OneToN(n), quantile).Estimated(confidence)->interval;

        EXPECT_EQ(interval.low, low == 0 ? -kNone : low) << n << " " << quantile;
        EXPECT_EQ(interval.high, high > n ? kNone : high) << n << " " << quantile;
      }
    }
  }
}

TEST(SamplesForBoundTest, IsTheFewestThatGiveIt) {
  EXPECT_EQ(SamplesForUpperBound(0.5, 0.95), 6);
  EXPECT_EQ(SamplesForUpperBound(0.95, 0.95), 72);
  EXPECT_EQ(SamplesForUpperBound(0.99, 0.95), 368);
  EXPECT_EQ(SamplesForLowerBound(0.95, 0.95), 2);
  for (double quantile : {0.5, 0.9, 0.95, 0.99}) {
    const int n = static_cast<int>(SamplesForUpperBound(quantile, 0.95));
    EXPECT_EQ(QuantileOf(OneToN(n), quantile).Estimated(0.95)->interval.high, n);
    EXPECT_EQ(QuantileOf(OneToN(n - 1), quantile).Estimated(0.95)->interval.high, kNone);
  }
}

TEST(ClusteredQuantileTest, NothingWithoutAValue) {
  EXPECT_FALSE(QuantileOf({}, 0.5).Estimated(0.95).has_value());
  EXPECT_FALSE(QuantileOf({{}, {}}, 0.5).Estimated(0.95).has_value());
}

TEST(ClusteredQuantileTest, OneRunGivesNoBounds) {
  Runs runs(1);
  for (int i = 0; i < 1000; ++i) runs[0].push_back(i);
  Estimate estimate = *QuantileOf(runs, 0.5).Estimated(0.95);
  EXPECT_EQ(estimate.value, 499);
  EXPECT_EQ(estimate.interval.low, -kNone);
  EXPECT_EQ(estimate.interval.high, kNone);
  EXPECT_EQ(estimate.effective_samples, 1);
}

TEST(ClusteredQuantileTest, RunsThatDifferWidenTheInterval) {
  Runs same(10);
  Runs shifted(10);
  for (int run = 0; run < 10; ++run) {
    for (int i = 0; i < 100; ++i) {
      same[run].push_back(i + run * 0.01);
      shifted[run].push_back(i + run * 20);
    }
  }
  Estimate alike = *QuantileOf(same, 0.5).Estimated(0.95);
  Estimate apart = *QuantileOf(shifted, 0.5).Estimated(0.95);
  EXPECT_EQ(alike.design_effect, 1);
  EXPECT_GT(apart.design_effect, 10);
  EXPECT_LT(alike.interval.high - alike.interval.low, 20);
  EXPECT_GT(apart.interval.high - apart.interval.low, 60);
}

TEST(ClusteredQuantileTest, IntervalContainsTheEstimate) {
  for (int n : {2, 3, 10, 75, 400}) {
    for (double quantile : {0.5, 0.9, 0.95, 0.99}) {
      Estimate estimate = *QuantileOf(OneToN(n), quantile).Estimated(0.95);
      EXPECT_LE(estimate.interval.low, estimate.value) << n << " " << quantile;
      EXPECT_GE(estimate.interval.high, estimate.value) << n << " " << quantile;
    }
  }
}

TEST(ClusteredQuantileTest, EqualValuesGiveThatValue) {
  Estimate estimate = *QuantileOf(Runs(5, std::vector<double>(30, 7)), 0.95).Estimated(0.95);
  EXPECT_EQ(estimate.value, 7);
  EXPECT_EQ(estimate.interval.low, 7);
  EXPECT_EQ(estimate.interval.high, 7);
}

TEST(AgainstTest, NowAgreesWithTheInterval) {
  Runs runs(6);
  for (int run = 0; run < 6; ++run) {
    for (int i = 0; i < 60; ++i) runs[run].push_back(i * (10 + run));
  }
  ClusteredQuantile median = QuantileOf(runs, 0.5);
  Interval interval = median.Estimated(0.95)->interval;
  EXPECT_EQ(median.Against(interval.high, 0.95).Project(0, 0.95), Side::kAbove);
  EXPECT_EQ(median.Against(std::nextafter(interval.high, 0), 0.95).Project(0, 0.95), Side::kInside);
  EXPECT_EQ(median.Against(interval.low, 0.95).Project(0, 0.95), Side::kInside);
  EXPECT_EQ(median.Against(std::nextafter(interval.low, 0), 0.95).Project(0, 0.95), Side::kBelow);
}

TEST(AgainstTest, MoreRunsDecideAThresholdAboveEverythingMeasured) {
  Runs runs(4);
  for (int run = 0; run < 4; ++run) {
    for (int i = 0; i < 15; ++i) runs[run].push_back(i * 4 + run);
  }
  ClusteredQuantile p95 = QuantileOf(runs, 0.95);
  ASSERT_EQ(p95.Estimated(0.95)->interval.high, kNone);
  // Five runs of 15 are 75 samples: 72 are enough.
  EXPECT_EQ(p95.Against(100, 0.95).Project(0, 0.95), Side::kInside);
  EXPECT_EQ(p95.Against(100, 0.95).Project(1, 0.95), Side::kAbove);
}

TEST(AgainstTest, NothingIsDecidedWithoutValues) {
  EXPECT_EQ(QuantileOf({}, 0.5).Against(100, 0.95).Project(5, 0.95), Side::kInside);
}

}  // namespace
}  // namespace assay::statistics
