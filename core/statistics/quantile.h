// Intervals for quantiles, without assuming a distribution.
#ifndef ASSAY_CORE_STATISTICS_QUANTILE_H_
#define ASSAY_CORE_STATISTICS_QUANTILE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "core/statistics/interval.h"
#include "core/statistics/proportion.h"

namespace assay::statistics {

// The smallest value v of `sorted` such that at least a share `quantile` of the values is <= v
// (inverse of the empirical distribution; type 1 of Hyndman & Fan, The American Statistician 50,
// 1996): always a value that was measured. `sorted` ascending, not empty; quantile in (0, 1).
double SampleQuantile(absl::Span<const double> sorted, double quantile);

// The fewest independent samples that give an upper (lower) bound: quantile^n <= alpha/2
// ((1 - quantile)^n <= alpha/2). For p95 at 95 % the upper bound needs 72, for the median 6.
uint64_t SamplesForUpperBound(double quantile, double confidence);
uint64_t SamplesForLowerBound(double quantile, double confidence);

// Where an interval lies with respect to a threshold.
enum class Side {
  kBelow,   // the threshold is below all of it
  kInside,  // undecided
  kAbove,   // the threshold is at or above all of it
};

// A quantile against one threshold: the share of values above the threshold, against 1 - quantile.
class QuantileAgainst {
 public:
  QuantileAgainst(ClusteredProportion share_above, double quantile, double least_design_effect)
      : share_above_(share_above), quantile_(quantile), least_design_effect_(least_design_effect) {}

  // After `more` further runs like these.
  Side Project(uint32_t more, double confidence) const;

 private:
  ClusteredProportion share_above_;
  double quantile_;
  double least_design_effect_;
};

// A quantile of all values of all runs.
//
// "The quantile is at most x" says "the share above x is at most 1 - quantile", and that share is a
// proportion over runs. The interval holds the values x that the proportion's interval cannot
// exclude (Woodruff, JASA 47, 1952; by inversion at each x as Francisco & Fuller, Annals of
// Statistics 19, 1991). For independent samples that is exactly the interval between order
// statistics by the binomial distribution (David & Nagaraja, Order Statistics, 3rd ed. 2003,
// section 7.1). Its ends are measured values, or infinite where the samples cannot give one.
//
// Few values lie in the tail, and runs that differ show it less there than at the estimate: above
// the estimate the design effect is not taken smaller than at it.
class ClusteredQuantile {
 public:
  // quantile in (0, 1).
  explicit ClusteredQuantile(double quantile) : quantile_(quantile) {}

  // The values of one run, in any order, finite. Without values it changes nothing.
  void Add(absl::Span<const double> values);

  // nullopt without a value. effective_samples and design_effect are those of the share above the
  // point estimate.
  std::optional<Estimate> Estimated(double confidence) const;

  // Agrees with Estimated(): kAbove where the threshold is at least the interval's high end.
  QuantileAgainst Against(double threshold, double confidence) const;

 private:
  std::vector<double> Sorted() const;
  ClusteredProportion ShareAbove(double x) const;
  // At the point estimate.
  double DesignEffectAt(double value, double confidence) const;

  double quantile_;
  std::vector<std::vector<double>> runs_;  // each ascending
};

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_QUANTILE_H_
