// Whether the intervals err as rarely as they promise, on streams whose truth is known.
//
// The threshold is the truth itself: the hardest case, where a right answer does not exist. "pass"
// (the interval ends below) and "fail" (it begins above) are both wrong, each allowed for 2.5 % of
// the streams at 95 % confidence. A point comparison answers one of the two every time. The printed
// lines are the table of docs/decisions/0005-acceptance-statistics.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/statistics/mean.h"
#include "core/statistics/proportion.h"
#include "core/statistics/quantile.h"
#include "tests/core/statistics/oracle.h"
#include "tests/core/statistics/random.h"

namespace assay::statistics {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kTail = (1 - kConfidence) / 2;

// Shares of the streams that are accepted and rejected although neither is right.
struct Errors {
  double accept = 0;
  double reject = 0;

  void Count(double low, double high, double truth) {
    accept += high <= truth;
    reject += low > truth;
  }
};

struct Rates {
  Errors engine;
  Errors independent;  // an interval that takes all samples as independent
  Errors point;        // the bare figure against the threshold

  void Divide(int streams) {
    for (Errors* errors : {&engine, &independent, &point}) {
      errors->accept /= streams;
      errors->reject /= streams;
    }
  }
};

// The most errors that a method with error rate kTail makes in `streams`, but for one time in a
// thousand.
double Allowed(int streams) {
  int64_t errors = 0;
  while (SlowBinomialCdf(errors, streams, kTail) < 0.999L) ++errors;
  return static_cast<double>(errors) / streams;
}

void Print(const char* name, const Rates& rates) {
  std::printf("| %s | %.1f %% | %.1f %% | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", name,
              100 * rates.engine.accept, 100 * rates.engine.reject, 100 * rates.independent.accept,
              100 * rates.independent.reject, 100 * rates.point.accept, 100 * rates.point.reject);
}

// ---- proportions

// Losses of one run of `trials` packets.
using LossStream = std::function<uint64_t(Random&, uint64_t trials)>;

LossStream Independent(double p) {
  return [p](Random& random, uint64_t trials) {
    uint64_t lost = 0;
    for (uint64_t i = 0; i < trials; ++i) lost += random.Chance(p);
    return lost;
  };
}

// Gilbert's channel (Bell System Technical Journal 39, 1960) with everything lost in the bad state:
// bursts of mean length `burst`, and p of all packets lost.
LossStream Bursty(double p, double burst) {
  return [=](Random& random, uint64_t trials) {
    const double leave_bad = 1 / burst;
    const double leave_good = leave_bad * p / (1 - p);
    uint64_t lost = 0;
    bool bad = random.Chance(p);
    for (uint64_t i = 0; i < trials; ++i) {
      lost += bad;
      bad = bad ? !random.Chance(leave_bad) : random.Chance(leave_good);
    }
    return lost;
  };
}

// Each run has its own loss, drawn from the beta distribution with mean p and correlation `rho`
// between two packets of a run.
LossStream BetaBinomial(double p, double rho) {
  return [=](Random& random, uint64_t trials) {
    const double size = 1 / rho - 1;
    const double own = random.Beta(p * size, (1 - p) * size);
    return Independent(own)(random, trials);
  };
}

Rates MeasureLoss(const LossStream& stream, double truth, int runs, int trials, int streams) {
  Random random(20261201);
  Rates rates;
  for (int i = 0; i < streams; ++i) {
    ClusteredProportion loss;
    uint64_t events = 0;
    uint64_t packets = 0;
    for (int run = 0; run < runs; ++run) {
      // Unequal runs: every third one is a third shorter.
      const auto sent = static_cast<uint64_t>(run % 3 == 2 ? trials * 2 / 3 : trials);
      const uint64_t lost = stream(random, sent);
      loss.Add(lost, sent);
      events += lost;
      packets += sent;
    }
    const Estimate estimate = *loss.Estimated(kConfidence);
    const Interval independent =
        ClopperPearson(static_cast<double>(events), static_cast<double>(packets), kConfidence);
    rates.engine.Count(estimate.interval.low, estimate.interval.high, truth);
    rates.independent.Count(independent.low, independent.high, truth);
    rates.point.Count(estimate.value, estimate.value, truth);
  }
  rates.Divide(streams);
  return rates;
}

struct LossCase {
  const char* name;
  double truth;
  LossStream stream;
  int runs;
  int trials;
};

std::vector<LossCase> LossCases() {
  return {
      {"independent loss 1 %, 20 runs x 100", 0.01, Independent(0.01), 20, 100},
      {"independent loss 5 %, 4 runs x 100", 0.05, Independent(0.05), 4, 100},
      {"bursts of 3, loss 1 %, 20 runs x 100", 0.01, Bursty(0.01, 3), 20, 100},
      {"bursts of 3, loss 1 %, 60 runs x 100", 0.01, Bursty(0.01, 3), 60, 100},
      {"bursts of 10, loss 1 %, 20 runs x 300", 0.01, Bursty(0.01, 10), 20, 300},
      {"bursts of 30, loss 3 %, 30 runs x 300", 0.03, Bursty(0.03, 30), 30, 300},
      {"bursts of 10, loss 5 %, 6 runs x 200", 0.05, Bursty(0.05, 10), 6, 200},
      {"runs differ (rho 0.01), loss 1 %, 20 runs x 200", 0.01, BetaBinomial(0.01, 0.01), 20, 200},
      {"runs differ (rho 0.05), loss 5 %, 12 runs x 100", 0.05, BetaBinomial(0.05, 0.05), 12, 100},
      {"runs differ (rho 0.1), loss 10 %, 20 runs x 50", 0.10, BetaBinomial(0.10, 0.1), 20, 50},
      {"runs differ (rho 0.1), loss 2 %, 40 runs x 200", 0.02, BetaBinomial(0.02, 0.1), 40, 200},
      {"runs differ (rho 0.05), loss 20 %, 2 runs x 100", 0.20, BetaBinomial(0.20, 0.05), 2, 100},
  };
}

TEST(CoverageTest, LossIsNeitherAcceptedNorRejectedWronglyMoreOftenThanStated) {
  constexpr int kStreams = 4000;
  const double allowed = Allowed(kStreams);
  for (const LossCase& c : LossCases()) {
    const Rates rates = MeasureLoss(c.stream, c.truth, c.runs, c.trials, kStreams);
    Print(c.name, rates);
    EXPECT_LE(rates.engine.accept, allowed) << c.name;
    EXPECT_LE(rates.engine.reject, allowed) << c.name;
    EXPECT_GT(rates.point.accept, 0.4) << c.name;
    EXPECT_GT(rates.point.reject, 0.4) << c.name;
  }
}

TEST(CoverageTest, SamplesTakenAsIndependentWouldErrFarMoreOften) {
  const Rates rates = MeasureLoss(Bursty(0.01, 10), 0.01, 20, 300, 1000);
  EXPECT_GT(rates.independent.accept, 4 * Allowed(1000));
  EXPECT_GT(rates.independent.reject, 4 * Allowed(1000));
}

// The promise would be worth nothing if every figure were inconclusive.
TEST(CoverageTest, LossWellBelowTheThresholdIsAccepted) {
  Random random(20261202);
  int accepted = 0;
  for (int i = 0; i < 500; ++i) {
    ClusteredProportion loss;
    for (int run = 0; run < 40; ++run) loss.Add(Bursty(0.001, 3)(random, 200), 200);
    accepted += loss.Estimated(kConfidence)->interval.high <= 0.01;
  }
  EXPECT_GT(accepted, 375);
}

TEST(CoverageTest, LossWellAboveTheThresholdIsRejected) {
  Random random(20261203);
  int rejected = 0;
  for (int i = 0; i < 500; ++i) {
    ClusteredProportion loss;
    for (int run = 0; run < 40; ++run) loss.Add(Bursty(0.04, 3)(random, 200), 200);
    rejected += loss.Estimated(kConfidence)->interval.low > 0.01;
  }
  EXPECT_GT(rejected, 450);
}

// ---- round-trip times

// Times whose logarithm is normal: a level that each run has for itself, with standard deviation
// `between`, plus an AR(1) process within the run with correlation `phi` from one sample to the
// next and standard deviation `within`.
struct TimeStream {
  double between;
  double phi;
  double within;

  std::vector<double> Run(Random& random, int samples) const {
    const double level = between * random.Normal();
    double state = random.Normal();
    std::vector<double> values;
    for (int i = 0; i < samples; ++i) {
      values.push_back(50 * std::exp(level + within * state));
      state = phi * state + std::sqrt(1 - phi * phi) * random.Normal();
    }
    return values;
  }
  double Deviation() const { return std::sqrt(between * between + within * within); }
  double Quantile(double quantile) const {
    return 50 * std::exp(Deviation() * NormalQuantile(quantile));
  }
  double Mean() const { return 50 * std::exp(Deviation() * Deviation() / 2); }
};

struct TimeCase {
  const char* name;
  TimeStream stream;
  int runs;
  int samples;
};

std::vector<TimeCase> TimeCases() {
  return {
      {"independent, 10 runs x 100", {0, 0, 0.3}, 10, 100},
      {"correlated within runs (0.9), 20 runs x 100", {0, 0.9, 0.3}, 20, 100},
      {"correlated within runs (0.9), 5 runs x 100", {0, 0.9, 0.3}, 5, 100},
      {"runs differ (10 %), 20 runs x 100", {0.1, 0.5, 0.2}, 20, 100},
      {"runs differ (20 %), correlated (0.9), 12 runs x 200", {0.2, 0.9, 0.2}, 12, 200},
      {"runs differ (10 %), 20 runs x 5", {0.1, 0.5, 0.2}, 20, 5},
      {"runs differ (10 %), 3 runs x 50", {0.1, 0.5, 0.2}, 3, 50},
  };
}

// An interval of `values` that takes them as independent samples.
using IndependentInterval = std::function<Interval(std::vector<double> values)>;

template <typename Estimator>
Rates MeasureTimes(const TimeCase& c, double truth, const Estimator& empty,
                   const IndependentInterval& independent, int streams) {
  Random random(20261204);
  Rates rates;
  for (int i = 0; i < streams; ++i) {
    Estimator clustered = empty;
    std::vector<double> all;
    for (int run = 0; run < c.runs; ++run) {
      const std::vector<double> values =
          c.stream.Run(random, run % 3 == 2 ? c.samples * 2 / 3 : c.samples);
      clustered.Add(values);
      all.insert(all.end(), values.begin(), values.end());
    }
    const Estimate estimate = *clustered.Estimated(kConfidence);
    const Interval naive = independent(std::move(all));
    rates.engine.Count(estimate.interval.low, estimate.interval.high, truth);
    rates.independent.Count(naive.low, naive.high, truth);
    rates.point.Count(estimate.value, estimate.value, truth);
  }
  rates.Divide(streams);
  return rates;
}

void ExpectQuantileCoverage(double quantile, const char* name, int streams) {
  const double allowed = Allowed(streams);
  for (const TimeCase& c : TimeCases()) {
    // Order statistics by the binomial distribution; the ranks depend on the number alone.
    size_t low = 0;
    size_t high = 0;
    auto independent = [&](std::vector<double> values) -> Interval {
      const auto n = static_cast<int64_t>(values.size());
      if (high == 0) {
        while (SlowBinomialCdf(static_cast<int64_t>(low), n, quantile) <= kTail) ++low;
        high = low + 1;
        while (1 - SlowBinomialCdf(static_cast<int64_t>(high) - 1, n, quantile) > kTail) ++high;
      }
      std::sort(values.begin(), values.end());
      return {low == 0 ? 0 : values[low - 1], high > values.size() ? 1e9 : values[high - 1]};
    };
    const Rates rates = MeasureTimes(c, c.stream.Quantile(quantile), ClusteredQuantile(quantile),
                                     independent, streams);
    Print((std::string(name) + ", " + c.name).c_str(), rates);
    EXPECT_LE(rates.engine.accept, allowed) << c.name;
    EXPECT_LE(rates.engine.reject, allowed) << c.name;
    EXPECT_GT(std::max(rates.point.accept, rates.point.reject), 0.4) << c.name;
  }
}

TEST(CoverageTest, MediansErrNoMoreOftenThanStated) { ExpectQuantileCoverage(0.5, "median", 500); }

TEST(CoverageTest, NinetyFifthPercentilesErrNoMoreOftenThanStated) {
  ExpectQuantileCoverage(0.95, "p95", 1000);
}

TEST(CoverageTest, MeansErrNoMoreOftenThanStated) {
  constexpr int kStreams = 2000;
  const double allowed = Allowed(kStreams);
  for (const TimeCase& c : TimeCases()) {
    auto independent = [](std::vector<double> values) {
      ClusteredMean single;
      for (double value : values) single.Add({&value, 1});
      return single.Project(0, kConfidence);
    };
    const Rates rates = MeasureTimes(c, c.stream.Mean(), ClusteredMean(), independent, kStreams);
    Print((std::string("mean, ") + c.name).c_str(), rates);
    EXPECT_LE(rates.engine.accept, allowed) << c.name;
    EXPECT_LE(rates.engine.reject, allowed) << c.name;
    EXPECT_GT(std::max(rates.point.accept, rates.point.reject), 0.4) << c.name;
  }
}

}  // namespace
}  // namespace assay::statistics
