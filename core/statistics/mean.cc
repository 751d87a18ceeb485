#include "core/statistics/mean.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::statistics {

void ClusteredMean::Add(absl::Span<const double> values) {
  if (values.empty()) return;
  if (moments_.runs == 0) origin_ = values.front();
  Run run;
  run.count = static_cast<double>(values.size());
  for (double value : values) {
    run.sum += value - origin_;
    square_ += (value - origin_) * (value - origin_);
  }
  // Of equal means the longer run stands.
  auto beats = [](const Run& a, const Run& b, double sign) {
    if (b.count == 0) return true;
    const double difference = sign * (a.sum / a.count - b.sum / b.count);
    return difference > 0 || (difference == 0 && a.count > b.count);
  };
  if (beats(run, highest_, 1)) highest_ = run;
  if (beats(run, lowest_, -1)) lowest_ = run;
  moments_.Add(run.sum, run.count);
}

double ClusteredMean::SampleVariance() const {
  if (moments_.count < 2) return 0;
  return std::max(0.0, square_ - moments_.sum * moments_.sum / moments_.count) /
         (moments_.count - 1);
}

double ClusteredMean::Variance(const ClusterMoments& moments) const {
  const double independent = SampleVariance() / moments.count;
  // Of a single run, however often it is repeated, nothing else is known.
  return moments_.runs < 2 ? independent : std::max(independent, RatioVariance(moments));
}

Interval ClusteredMean::Project(uint32_t more, double confidence) const {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  // A single value has no variance, a single run none between runs.
  if (moments_.runs + more < 2 || moments_.count < 2) return {-kUnbounded, kUnbounded};
  // The variance is scaled after it was taken: its m / (m - 1) is of the runs that it rests on.
  const double growth = (moments_.runs + more) / moments_.runs;
  const ClusterMoments moments = moments_.Scaled(growth);
  const double t = StudentTQuantile((1 + confidence) / 2, moments.runs - 1);
  const double mean = moments_.sum / moments_.count;
  const double half = t * std::sqrt(Variance(moments_) / growth);
  Interval interval{mean - half, mean + half};

  const double above = highest_.sum / highest_.count - mean;
  const double below = mean - lowest_.sum / lowest_.count;
  auto with = [&](const Run& run) {
    ClusterMoments all = moments;
    all.Add(run.sum, run.count);
    return all;
  };
  auto wide = [&](const ClusterMoments& all) {
    return t * std::sqrt(Variance(all) * all.count / moments.count);
  };
  if (above >= below) {
    const ClusterMoments all = with(highest_);
    interval.high = std::max(interval.high, all.sum / all.count + wide(all));
  }
  if (below >= above) {
    const ClusterMoments all = with(lowest_);
    interval.low = std::min(interval.low, all.sum / all.count - wide(all));
  }
  return {origin_ + interval.low, origin_ + interval.high};
}

std::optional<Estimate> ClusteredMean::Estimated(double confidence) const {
  if (moments_.runs == 0) return std::nullopt;
  Estimate estimate;
  estimate.value = origin_ + moments_.sum / moments_.count;
  estimate.interval = Project(0, confidence);
  estimate.samples = static_cast<uint64_t>(moments_.count);
  estimate.runs = static_cast<uint32_t>(moments_.runs);
  estimate.design_effect = DesignEffect(moments_, SampleVariance() / moments_.count);
  estimate.effective_samples = moments_.count / estimate.design_effect;
  return estimate;
}

}  // namespace assay::statistics
