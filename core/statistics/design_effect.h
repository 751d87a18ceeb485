// How many independent samples clustered samples are worth.
//
// Samples of one run are correlated: they share its minutes, its path, its bursts. Runs stand apart
// in time and are taken as independent. What the runs differ by, beyond what independent samples
// would differ by, is measured and taken off the sample size.
//
// 1. Variance of a ratio R = sum(y_i) / sum(n_i) over m runs of n_i samples, by linearisation
//    (Cochran, Sampling Techniques, 3rd ed. 1977, eq. 6.13, without finite-population correction):
//      v = m / (m - 1) * sum((y_i - R n_i)^2) / (sum n_i)^2
//    It needs no assumption about the correlation inside a run: bursts, autocorrelation and drift
//    between runs all end up in it.
// 2. Design effect (Kish, Survey Sampling, 1965): deff = v / v_independent, not below 1: runs that
//    agree better than chance do so by chance. Runs of one sample each are independent: 1.
// 3. v comes from few runs, so that it is itself uncertain, with m - 1 degrees of freedom. For
//    intervals that have no room for Student's t, the sample size pays (Korn & Graubard,
//    "Confidence intervals for proportions with small expected number of positive counts estimated
//    from survey data", Survey Methodology 24, 1998):
//      n* = n / deff * (t(n - 1) / t(m - 1))^2, t the quantile at (1 + confidence) / 2.
//    Two runs pay a factor of about 40, three 5, four 2.6, ten 1.3 (at 95 %, many samples a run).
//    One run says nothing of the variance between runs: it counts as one sample.
#ifndef ASSAY_CORE_STATISTICS_DESIGN_EFFECT_H_
#define ASSAY_CORE_STATISTICS_DESIGN_EFFECT_H_

namespace assay::statistics {

// What runs of (y_i, n_i) add up to; scaled by k it stands for k times as many runs like these.
struct ClusterMoments {
  double runs = 0;
  double count = 0;         // sum of n_i
  double sum = 0;           // sum of y_i
  double count_square = 0;  // sum of n_i^2
  double cross = 0;         // sum of y_i n_i
  double sum_square = 0;    // sum of y_i^2

  // One more run; n > 0.
  void Add(double y, double n);
  ClusterMoments Scaled(double factor) const;
};

// v of the header comment. Infinity for fewer than two runs.
double RatioVariance(const ClusterMoments& moments);

// deff of the header comment, at least 1; `count` for fewer than two runs.
double DesignEffect(const ClusterMoments& moments, double independent_variance);

// (t(count - 1) / t(degrees_of_freedom))^2 at `confidence`, at most 1: the price of point 3.
double PriceOfFewRuns(double count, double degrees_of_freedom, double confidence);

// n* of point 3. Without the price for runs of one sample each; min(count, 1) for fewer than two
// runs.
double EffectiveSamples(const ClusterMoments& moments, double design_effect, double confidence);

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_DESIGN_EFFECT_H_
