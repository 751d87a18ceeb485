// Intervals for means.
#ifndef ASSAY_CORE_STATISTICS_MEAN_H_
#define ASSAY_CORE_STATISTICS_MEAN_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "core/statistics/design_effect.h"
#include "core/statistics/interval.h"

namespace assay::statistics {

// The mean of all values of all runs: sum / count, and mean -+ t(m - 1) sqrt(v), v as in
// design_effect.h but not below s^2/n, the variance of independent samples. effective_samples is
// n / design_effect: t pays for few runs. One run gives no bounds. Holds moments only.
//
// Times are skewed: one run in many is far slower than the others, and while none has been seen t
// errs twice as often as stated (docs/decisions/0005-acceptance-statistics.md). As for proportions,
// the end on the side of the run that is farthest from the mean is therefore taken with one more
// run like that one, and is only ever moved outwards by it.
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
  struct Run {
    double sum = 0;  // less origin_ * count
    double count = 0;
  };

  // v for runs like these, not below the variance of independent samples.
  double Variance(const ClusterMoments& moments) const;
  // s^2
  double SampleVariance() const;

  ClusterMoments moments_;  // of values less origin_
  double square_ = 0;       // sum of (value - origin_)^2
  double origin_ = 0;       // first value: keeps the squares from cancelling
  Run highest_;             // by mean
  Run lowest_;
};

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_MEAN_H_
