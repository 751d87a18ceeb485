// What every estimator of this folder yields, and the distributions behind it (Boost.Math).
//
// `confidence` is two-sided everywhere, in (0, 1): each end of an interval errs with probability
// (1 - confidence) / 2 at most.
#ifndef ASSAY_CORE_STATISTICS_INTERVAL_H_
#define ASSAY_CORE_STATISTICS_INTERVAL_H_

#include <cstdint>

namespace assay::statistics {

struct Interval {
  double low = 0;   // -infinity where the samples give no lower bound
  double high = 0;  // infinity where they give no upper bound
};

// A figure of clustered samples (a cluster is one run: everything one result measured).
struct Estimate {
  double value = 0;  // point estimate
  Interval interval;
  uint64_t samples = 0;
  // Independent samples that the interval was computed for: samples / design_effect, less the price
  // of estimating the design effect from few runs (design_effect.h).
  double effective_samples = 0;
  // Variance with the correlation within runs, over the variance without: at least 1.
  double design_effect = 1;
  uint32_t runs = 0;  // that have samples
};

// Quantile of the normal distribution, p in (0, 1).
double NormalQuantile(double p);

// Quantile of Student's t, p in (0, 1), degrees_of_freedom > 0.
double StudentTQuantile(double p, double degrees_of_freedom);

// P(B <= k) for B binomial with n trials of probability p; 0 for k < 0, 1 for k >= n.
double BinomialCdf(int64_t k, int64_t n, double p);

// x such that I_x(a, b) = p, the quantile of the beta distribution. a, b > 0.
double BetaQuantile(double p, double a, double b);

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_INTERVAL_H_
