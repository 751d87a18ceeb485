#include "core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::statistics {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// Room for rounding where a share is compared with 1 - quantile.
constexpr double kRounding = 1e-12;

uint64_t SamplesUntil(double probability, double confidence) {
  const double tail = (1 - confidence) / 2;
  auto n = static_cast<uint64_t>(std::ceil(std::log(tail) / std::log(probability)));
  while (n > 1 && std::pow(probability, static_cast<double>(n - 1)) <= tail) --n;
  while (std::pow(probability, static_cast<double>(n)) > tail) ++n;
  return n;
}

// The first of the ascending `values` for which `holds`; nullptr where none does. Once true it is
// taken to stay true.
template <typename Predicate>
const double* FirstValue(const std::vector<double>& values, Predicate holds) {
  auto found = std::partition_point(values.begin(), values.end(),
                                    [&](double value) { return !holds(value); });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

double SampleQuantile(absl::Span<const double> sorted, double quantile) {
  const double n = static_cast<double>(sorted.size());
  // A rank that is a whole number but for rounding stays that number.
  const double exact = quantile * n;
  double rank = std::ceil(exact);
  if (rank - exact > 1 - 1e-9) rank -= 1;
  return sorted[static_cast<size_t>(std::clamp(rank, 1.0, n)) - 1];
}

uint64_t SamplesForUpperBound(double quantile, double confidence) {
  return SamplesUntil(quantile, confidence);
}

uint64_t SamplesForLowerBound(double quantile, double confidence) {
  return SamplesUntil(1 - quantile, confidence);
}

void ClusteredQuantile::Add(absl::Span<const double> values) {
  if (values.empty()) return;
  std::vector<double>& run = runs_.emplace_back(values.begin(), values.end());
  std::sort(run.begin(), run.end());
}

ClusteredProportion ClusteredQuantile::ShareAbove(double x) const {
  ClusteredProportion share;
  for (const std::vector<double>& run : runs_) {
    share.Add(static_cast<uint64_t>(run.end() - std::upper_bound(run.begin(), run.end(), x)),
              run.size());
  }
  return share;
}

double ClusteredQuantile::DesignEffectAt(double value, double confidence) const {
  return runs_.size() < 2 ? 1 : ShareAbove(value).Estimated(confidence)->design_effect;
}

Side QuantileAgainst::Project(uint32_t more, double confidence) const {
  const double above = 1 - quantile_;
  const Interval share = share_above_.Project(more, confidence, least_design_effect_);
  // Even the upper end of the share above is small enough: the quantile is at most the threshold.
  if (share.high <= above + kRounding) return Side::kAbove;
  // Even the lower end is too large: the quantile is above the threshold.
  return share.low > above + kRounding ? Side::kBelow : Side::kInside;
}

std::vector<double> ClusteredQuantile::Sorted() const {
  std::vector<double> values;
  for (const std::vector<double>& run : runs_) {
    values.insert(values.end(), run.begin(), run.end());
  }
  std::sort(values.begin(), values.end());
  return values;
}

QuantileAgainst ClusteredQuantile::Against(double threshold, double confidence) const {
  const double design_effect =
      runs_.empty() ? 1 : DesignEffectAt(SampleQuantile(Sorted(), quantile_), confidence);
  return QuantileAgainst(ShareAbove(threshold), quantile_, design_effect);
}

std::optional<Estimate> ClusteredQuantile::Estimated(double confidence) const {
  if (runs_.empty()) return std::nullopt;
  const std::vector<double> values = Sorted();
  const double value = SampleQuantile(values, quantile_);
  Estimate estimate = *ShareAbove(value).Estimated(confidence);
  estimate.value = value;
  const double design_effect = DesignEffectAt(value, confidence);
  auto side = [&](double x) {
    return QuantileAgainst(ShareAbove(x), quantile_, design_effect).Project(0, confidence);
  };
  const double* high = FirstValue(values, [&](double x) { return side(x) == Side::kAbove; });
  const double* low = FirstValue(values, [&](double x) { return side(x) != Side::kBelow; });
  estimate.interval.high = high == nullptr ? kNoBound : std::max(*high, value);
  // Where not even "everything is above" can be excluded there is no lower end.
  estimate.interval.low =
      low == nullptr || side(-kNoBound) != Side::kBelow ? -kNoBound : std::min(*low, value);
  return estimate;
}

}  // namespace assay::statistics
