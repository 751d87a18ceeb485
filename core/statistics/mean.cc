#include "core/statistics/mean.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::statistics {

void ClusteredMean::Add(absl::Span<const double> values) {
  if (values.empty()) return;
  if (moments_.runs == 0) origin_ = values.front();
  double sum = 0;
  for (double value : values) {
    sum += value - origin_;
    square_ += (value - origin_) * (value - origin_);
  }
  moments_.Add(sum, static_cast<double>(values.size()));
  totals_.emplace_back(sum, static_cast<double>(values.size()));
}

double ClusteredMean::ThirdMoment() const {
  const double m = moments_.runs;
  if (m < 3) return 0;
  const double mean = moments_.sum / moments_.count;
  double cubes = 0;
  for (const auto& [sum, count] : totals_) {
    const double residual = sum - mean * count;
    cubes += residual * residual * residual;
  }
  // m^2 / ((m - 1)(m - 2)) makes the sample's third moment unbiased for runs of equal size.
  return m * m / ((m - 1) * (m - 2)) * cubes / (moments_.count * moments_.count * moments_.count);
}

Interval ClusteredMean::Project(uint32_t more, double confidence) const {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  // A single value has no variance, a single run none between runs.
  if (moments_.runs + more < 2 || moments_.count < 2) return {-kUnbounded, kUnbounded};
  const double n = moments_.count;
  const double mean = moments_.sum / n;
  // Of independent samples: s^2 / n.
  const double independent = std::max(0.0, square_ - mean * moments_.sum) / (n - 1) / n;
  const double variance =
      moments_.runs < 2 ? independent : std::max(independent, RatioVariance(moments_));
  const double runs = moments_.runs + more;
  const double t = StudentTQuantile((1 + confidence) / 2, runs - 1);
  const double half = t * std::sqrt(variance * moments_.runs / runs);
  // The third moment falls with the square of the number of runs, the variance with the number.
  const double skew = variance > 0 ? ThirdMoment() / variance * moments_.runs / runs : 0;
  const double shift = skew * (2 * t * t + 1) / 6;
  return {origin_ + mean - half + std::min(0.0, shift),
          origin_ + mean + half + std::max(0.0, shift)};
}

std::optional<Estimate> ClusteredMean::Estimated(double confidence) const {
  if (moments_.runs == 0) return std::nullopt;
  const double n = moments_.count;
  const double mean = moments_.sum / n;
  Estimate estimate;
  estimate.value = origin_ + mean;
  estimate.interval = Project(0, confidence);
  estimate.samples = static_cast<uint64_t>(n);
  estimate.runs = static_cast<uint32_t>(moments_.runs);
  const double independent = n < 2 ? 0 : std::max(0.0, square_ - mean * moments_.sum) / (n - 1) / n;
  estimate.design_effect = DesignEffect(moments_, independent);
  estimate.effective_samples = n / estimate.design_effect;
  return estimate;
}

}  // namespace assay::statistics
