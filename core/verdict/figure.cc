#include "core/verdict/figure.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "core/statistics/runs_to_decide.h"

namespace assay::verdict {
namespace {

using statistics::ClusteredMean;
using statistics::ClusteredProportion;
using statistics::ClusteredQuantile;
using statistics::Estimate;
using statistics::Interval;
using statistics::QuantileAgainst;
using statistics::Side;

// 0 for statistics that are no quantiles.
double QuantileOf(v1::Statistic statistic) {
  switch (statistic) {
    case v1::STATISTIC_MEDIAN:
      return 0.5;
    case v1::STATISTIC_P90:
      return 0.9;
    case v1::STATISTIC_P95:
      return 0.95;
    case v1::STATISTIC_P99:
      return 0.99;
    default:
      return 0;
  }
}

double Rounded(double value) {
  if (!std::isfinite(value)) return value;
  double rounded = 0;
  if (!absl::SimpleAtod(absl::StrFormat("%.12g", value), &rounded)) return value;
  return rounded == 0 ? 0 : rounded;  // no negative zero
}

}  // namespace

Usable Check(const v1::Metric& metric, v1::Statistic statistic) {
  if (statistic == v1::STATISTIC_RATIO) {
    if (!metric.has_proportion()) return metric.has_samples() ? Usable::kInvalid : Usable::kEmpty;
    if (metric.proportion().events() > metric.proportion().trials()) return Usable::kInvalid;
    return metric.proportion().trials() == 0 ? Usable::kEmpty : Usable::kYes;
  }
  if (!metric.has_samples()) return metric.has_proportion() ? Usable::kInvalid : Usable::kEmpty;
  const auto& values = metric.samples().values();
  const bool finite =
      std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  if (!finite) return Usable::kInvalid;
  return values.empty() ? Usable::kEmpty : Usable::kYes;
}

Figure::Figure(const v1::Criterion& criterion, double threshold)
    : statistic_(criterion.statistic()),
      comparison_(criterion.comparison()),
      confidence_(criterion.confidence_ratio()),
      threshold_(threshold) {
  if (statistic_ == v1::STATISTIC_MEAN) data_ = ClusteredMean();
  if (double quantile = QuantileOf(statistic_); quantile > 0) data_ = ClusteredQuantile(quantile);
}

void Figure::Add(const v1::Metric& metric) {
  fresh_ = false;
  if (auto* proportion = std::get_if<ClusteredProportion>(&data_)) {
    proportion->Add(metric.proportion().events(), metric.proportion().trials());
    return;
  }
  const auto& values = metric.samples().values();
  const absl::Span<const double> span(values.data(), static_cast<size_t>(values.size()));
  if (auto* mean = std::get_if<ClusteredMean>(&data_)) mean->Add(span);
  if (auto* quantile = std::get_if<ClusteredQuantile>(&data_)) quantile->Add(span);
}

const std::optional<Estimate>& Figure::Estimated() {
  if (fresh_) return estimate_;
  fresh_ = true;
  estimate_ = std::visit([&](const auto& data) { return data.Estimated(confidence_); }, data_);
  if (estimate_.has_value()) {
    estimate_->value = Rounded(estimate_->value);
    estimate_->interval.low = Rounded(std::max(0.0, estimate_->interval.low));
    estimate_->interval.high = Rounded(std::max(0.0, estimate_->interval.high));
    estimate_->effective_samples = Rounded(estimate_->effective_samples);
    estimate_->design_effect = Rounded(estimate_->design_effect);
  }
  return estimate_;
}

Place Figure::Compare(const Interval& interval) const {
  if (comparison_ == v1::COMPARISON_AT_LEAST) {
    if (interval.low >= threshold_) return Place::kMeets;
    return interval.high < threshold_ ? Place::kViolates : Place::kUndecided;
  }
  if (interval.high <= threshold_) return Place::kMeets;
  return interval.low > threshold_ ? Place::kViolates : Place::kUndecided;
}

Place Figure::Decided() {
  return Estimated().has_value() ? Compare(Estimated()->interval) : Place::kUndecided;
}

Place Figure::Projected(uint32_t more) const {
  if (const auto* proportion = std::get_if<ClusteredProportion>(&data_)) {
    return Compare(proportion->Project(more, confidence_));
  }
  return Compare(std::get<ClusteredMean>(data_).Project(more, confidence_));
}

Place Figure::Compare(Side side) const {
  if (side == Side::kInside) return Place::kUndecided;
  const bool at_least = comparison_ == v1::COMPARISON_AT_LEAST;
  return (side == Side::kAbove) == at_least ? Place::kViolates : Place::kMeets;
}

uint32_t Figure::RunsToDecide(uint64_t min_samples) {
  if (!Estimated().has_value()) return 0;
  const double have = static_cast<double>(estimate_->samples);
  const double want = static_cast<double>(min_samples);
  auto enough = [&](uint32_t more) { return have + more * have / estimate_->runs >= want; };
  if (const auto* quantile = std::get_if<ClusteredQuantile>(&data_)) {
    const QuantileAgainst against = quantile->Against(threshold_, confidence_);
    return statistics::RunsToDecide([&](uint32_t more) {
      return enough(more) && Compare(against.Project(more, confidence_)) != Place::kUndecided;
    });
  }
  return statistics::RunsToDecide(
      [&](uint32_t more) { return enough(more) && Projected(more) != Place::kUndecided; });
}

uint64_t Figure::SamplesNeeded() const {
  const bool at_least = comparison_ == v1::COMPARISON_AT_LEAST;
  if (const double quantile = QuantileOf(statistic_); quantile > 0) {
    return at_least ? statistics::SamplesForLowerBound(quantile, confidence_)
                    : statistics::SamplesForUpperBound(quantile, confidence_);
  }
  if (statistic_ != v1::STATISTIC_RATIO) return 2;
  // Without a single bad sample: the share of good ones is a quantile's bound with the same sum.
  const double clean = at_least ? threshold_ : 1 - threshold_;
  if (!(clean > 0 && clean < 1)) return 1;
  return statistics::SamplesForUpperBound(clean, confidence_);
}

}  // namespace assay::verdict
