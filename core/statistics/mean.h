// Intervals for means.
#ifndef ASSAY_CORE_STATISTICS_MEAN_H_
#define ASSAY_CORE_STATISTICS_MEAN_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/statistics/design_effect.h"
#include "core/statistics/interval.h"

namespace assay::statistics {

// The mean of all values of all runs: sum / count, and mean -+ t(m - 1) sqrt(v), v as in
// design_effect.h but not below s^2/n, the variance of independent samples. effective_samples is
// n / design_effect: t pays for few runs. One run gives no bounds. Holds one pair of numbers a run.
//
// Times are skewed, and then t errs on one side more often than stated. The Edgeworth correction
// (Hall, "Inverting an Edgeworth expansion", Annals of Statistics 11, 1983; Johnson, JASA 73, 1978)
// moves both ends by v3 / v * (2 t^2 + 1) / 6, with v3 the third central moment of the mean between
// runs; an end is only ever moved outwards.
class ClusteredMean {
 public:
  // The values of one run, finite. Without values it changes nothing.
  void Add(absl::Span<const double> values);

  // nullopt without a value.
  std::optional<Estimate> Estimated(double confidence) const;

  // The interval after `more` further runs like these. From a single run, whose variance between
  // runs cannot be known, the variance of independent samples is assumed.
  Interval Project(uint32_t more, double confidence) const;

 private:
  // Third central moment of the mean, from the differences between runs.
  double ThirdMoment() const;

  ClusterMoments moments_;                         // of values less origin_
  std::vector<std::pair<double, double>> totals_;  // sum (less origin_) and count of each run
  double square_ = 0;                              // sum of (value - origin_)^2
  double origin_ = 0;                              // first value: keeps the squares from cancelling
};

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_MEAN_H_
