// The figure that a criterion judges: its statistic over the results of one group.
#ifndef ASSAY_CORE_VERDICT_FIGURE_H_
#define ASSAY_CORE_VERDICT_FIGURE_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "assay/v1/model.pb.h"
#include "assay/v1/result.pb.h"
#include "core/statistics/interval.h"
#include "core/statistics/mean.h"
#include "core/statistics/proportion.h"
#include "core/statistics/quantile.h"

namespace assay::verdict {

// What a metric of one result is good for.
enum class Usable {
  kYes,
  kEmpty,    // no trials or samples
  kInvalid,  // more events than trials, a value that is not a number, or the other shape
};
Usable Check(const v1::Metric& metric, v1::Statistic statistic);

// Where an interval lies.
enum class Place { kMeets, kViolates, kUndecided };

class Figure {
 public:
  // `criterion` with defaults filled in, `threshold` in the metric's unit.
  Figure(const v1::Criterion& criterion, double threshold);

  // A metric for which Check() gives kYes: one more run.
  void Add(const v1::Metric& metric);

  // Rounded to 12 significant digits, the interval's ends not below 0: no metric is negative.
  const std::optional<statistics::Estimate>& Estimated();

  // By the rounded interval.
  Place Decided();

  // Further results like these that would probably decide it and bring `min_samples`; 0: no number
  // would.
  uint32_t RunsToDecide(uint64_t min_samples);

  // The fewest independent samples for which the statistic has the end that a pass needs.
  uint64_t SamplesNeeded() const;

 private:
  Place Projected(uint32_t more) const;
  Place Compare(const statistics::Interval& interval) const;
  Place Compare(statistics::Side side) const;

  v1::Statistic statistic_;
  v1::Comparison comparison_;
  double confidence_;
  double threshold_;
  std::variant<statistics::ClusteredProportion, statistics::ClusteredMean,
               statistics::ClusteredQuantile>
      data_;
  bool fresh_ = false;
  std::optional<statistics::Estimate> estimate_;
};

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_FIGURE_H_
