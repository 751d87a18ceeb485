#include "core/evidence/kinds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/message.h"
#include "core/statistics/quantile.h"

namespace assay::evidence {

absl::Status Contradiction(absl::string_view kind, absl::string_view detail) {
  return Error(absl::StatusCode::kInvalidArgument, "probe.evidence_contradicts",
               {{"kind", std::string(kind)}, {"detail", std::string(detail)}});
}

v1::Metric Proportion(absl::string_view name, uint64_t events, uint64_t trials) {
  v1::Metric metric;
  metric.set_name(name.data(), name.size());
  metric.mutable_proportion()->set_events(events);
  metric.mutable_proportion()->set_trials(trials);
  return metric;
}

v1::Metric Samples(absl::string_view name, const std::vector<double>& values) {
  v1::Metric metric;
  metric.set_name(name.data(), name.size());
  metric.mutable_samples()->mutable_values()->Add(values.begin(), values.end());
  return metric;
}

nlohmann::ordered_json Quantiles(std::vector<double> values, const std::vector<QuantileKey>& keys) {
  std::sort(values.begin(), values.end());
  auto object = nlohmann::ordered_json::object();
  for (const QuantileKey& wanted : keys) {
    nlohmann::ordered_json& value = object[wanted.key];
    if (values.empty()) {
      value = nullptr;
    } else if (wanted.p <= 0) {
      value = values.front();
    } else if (wanted.p >= 1) {
      value = values.back();
    } else {
      value = statistics::SampleQuantile(values, wanted.p);
    }
  }
  return object;
}

nlohmann::ordered_json Ratio(uint64_t events, uint64_t trials) {
  if (trials == 0) return nullptr;
  return static_cast<double>(events) / static_cast<double>(trials);
}

}  // namespace assay::evidence
