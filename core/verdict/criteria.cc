// Criteria before anything is decided: defaults and merging.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "core/metric/catalogue.h"
#include "core/verdict/evaluate.h"
#include "core/verdict/words.h"

namespace assay::verdict {
namespace {

absl::Status CriterionError(absl::string_view id, const v1::Criterion& criterion,
                            MessageArgs args = {}) {
  args.emplace_back("criterion", criterion.id());
  args.emplace_back("metric", criterion.metric());
  return Error(absl::StatusCode::kInvalidArgument, id, args);
}

// A proportion is judged by its ratio, samples by everything else.
bool Fits(v1::Statistic statistic, metric::Shape shape) {
  return (statistic == v1::STATISTIC_RATIO) == (shape == metric::Shape::kProportion);
}

}  // namespace

absl::StatusOr<v1::Criterion> WithDefaults(const v1::Criterion& criterion) {
  const metric::MetricInfo* info = metric::Find(criterion.metric());
  if (info == nullptr) return CriterionError("verdict.unknown_metric", criterion);
  v1::Criterion filled = criterion;
  if (filled.statistic() == v1::STATISTIC_UNSPECIFIED) {
    filled.set_statistic(info->default_statistic);
  }
  if (!Fits(filled.statistic(), info->shape)) {
    return CriterionError("verdict.impossible_statistic", criterion,
                          {{"statistic", StatisticName(filled.statistic())}});
  }
  if (filled.comparison() == v1::COMPARISON_UNSPECIFIED) {
    filled.set_comparison(info->direction == metric::Direction::kLowerIsBetter
                              ? v1::COMPARISON_AT_MOST
                              : v1::COMPARISON_AT_LEAST);
  }
  if (filled.per().empty()) {
    filled.add_per(v1::GROUPING_VANTAGE);
    filled.add_per(v1::GROUPING_WINDOW);
  }
  const bool pooled = std::find(filled.per().begin(), filled.per().end(), v1::GROUPING_POOLED) !=
                      filled.per().end();
  if (pooled && filled.per_size() > 1) {
    return CriterionError("verdict.pooled_not_alone", criterion);
  }
  if (filled.confidence_ratio() == 0) filled.set_confidence_ratio(0.95);
  if (!(filled.confidence_ratio() > 0.5 && filled.confidence_ratio() < 1)) {
    return CriterionError("verdict.impossible_confidence", criterion,
                          {{"confidence", absl::StrCat(filled.confidence_ratio())}});
  }
  if (filled.min_days() == 0) filled.set_min_days(1);
  if (filled.severity() == v1::SEVERITY_UNSPECIFIED) filled.set_severity(v1::SEVERITY_MUST);
  return filled;
}

std::vector<v1::Criterion> MergeCriteria(const v1::Profile& profile, const v1::Plan& plan) {
  std::vector<v1::Criterion> merged(profile.criteria().begin(), profile.criteria().end());
  for (const v1::Criterion& criterion : plan.criteria()) {
    auto same = std::find_if(merged.begin(), merged.end(), [&](const v1::Criterion& other) {
      return other.id() == criterion.id();
    });
    if (same == merged.end()) {
      merged.push_back(criterion);
    } else {
      *same = criterion;
    }
  }
  return merged;
}

}  // namespace assay::verdict
