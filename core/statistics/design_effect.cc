#include "core/statistics/design_effect.h"

#include <algorithm>
#include <limits>

#include "core/statistics/interval.h"

namespace assay::statistics {
namespace {

bool OneSampleEach(const ClusterMoments& moments) { return moments.runs >= moments.count; }

}  // namespace

void ClusterMoments::Add(double y, double n) {
  runs += 1;
  count += n;
  sum += y;
  count_square += n * n;
  cross += y * n;
  sum_square += y * y;
}

ClusterMoments ClusterMoments::Scaled(double factor) const {
  return {runs * factor,         count * factor, sum * factor,
          count_square * factor, cross * factor, sum_square * factor};
}

double RatioVariance(const ClusterMoments& moments) {
  if (moments.runs < 2) return std::numeric_limits<double>::infinity();
  const double ratio = moments.sum / moments.count;
  // sum((y - R n)^2), multiplied out.
  const double squares =
      moments.sum_square - 2 * ratio * moments.cross + ratio * ratio * moments.count_square;
  return moments.runs / (moments.runs - 1) * std::max(0.0, squares) /
         (moments.count * moments.count);
}

double DesignEffect(const ClusterMoments& moments, double independent_variance) {
  if (moments.runs < 2) return std::max(1.0, moments.count);
  if (OneSampleEach(moments) || !(independent_variance > 0)) return 1;
  return std::max(1.0, RatioVariance(moments) / independent_variance);
}

double PriceOfFewRuns(double count, double degrees_of_freedom, double confidence) {
  const double p = (1 + confidence) / 2;
  const double ratio = StudentTQuantile(p, count - 1) / StudentTQuantile(p, degrees_of_freedom);
  return std::min(1.0, ratio * ratio);
}

double EffectiveSamples(const ClusterMoments& moments, double design_effect, double confidence) {
  if (moments.runs < 2) return std::min(moments.count, 1.0);
  const double plain = moments.count / design_effect;
  if (OneSampleEach(moments)) return plain;
  return plain * PriceOfFewRuns(moments.count, moments.runs - 1, confidence);
}

}  // namespace assay::statistics
