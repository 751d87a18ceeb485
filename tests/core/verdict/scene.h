// A small plan and results to fill it with, so that a test says only what matters to it.
#ifndef ASSAY_TESTS_CORE_VERDICT_SCENE_H_
#define ASSAY_TESTS_CORE_VERDICT_SCENE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "core/verdict/evaluate.h"

namespace assay::verdict {

inline v1::Metric Loss(uint64_t lost, uint64_t sent) {
  v1::Metric metric;
  metric.set_name("icmp.loss_ratio");
  metric.mutable_proportion()->set_events(lost);
  metric.mutable_proportion()->set_trials(sent);
  return metric;
}

inline v1::Metric Samples(const std::string& name, const std::vector<double>& values) {
  v1::Metric metric;
  metric.set_name(name);
  metric.mutable_samples();
  for (double value : values) metric.mutable_samples()->add_values(value);
  return metric;
}

inline v1::Metric Rtt(const std::vector<double>& values) { return Samples("icmp.rtt_ms", values); }

// Server hk-gpu-01, vantages sz-office (telecom) and gz-office (unicom), windows evening (peak) and
// night (off-peak), probe echo (icmp) from both in both.
class Scene {
 public:
  Scene() {
    input.run = "run-1";
    input.plan.set_name("trial");
    input.plan.set_time_zone("Asia/Shanghai");
    input.plan.add_servers("hk-gpu-01");
    input.server.set_name("hk-gpu-01");
    AddVantage("sz-office", v1::VANTAGE_KIND_OFFICE, "telecom");
    AddVantage("gz-office", v1::VANTAGE_KIND_OFFICE, "unicom");
    AddWindow("evening", v1::WINDOW_ROLE_PEAK);
    AddWindow("night", v1::WINDOW_ROLE_OFF_PEAK);
    v1::Probe* echo = input.plan.add_probes();
    echo->set_name("echo");
    echo->mutable_icmp();
  }

  void AddVantage(const std::string& name, v1::VantageKind kind, const std::string& carrier) {
    v1::Vantage vantage;
    vantage.set_name(name);
    vantage.set_kind(kind);
    vantage.set_carrier(carrier);
    input.vantages.push_back(vantage);
    input.plan.add_vantages(name);
  }

  void AddWindow(const std::string& name, v1::WindowRole role) {
    v1::Window* window = input.plan.add_windows();
    window->set_name(name);
    window->set_role(role);
  }

  // A criterion on sz-office in the evening alone, unless the test widens it.
  v1::Criterion& AddCriterion(const std::string& id, const std::string& metric,
                              const std::string& threshold) {
    v1::Criterion criterion;
    criterion.set_id(id);
    criterion.set_metric(metric);
    criterion.set_threshold(threshold);
    criterion.mutable_where()->add_vantages("sz-office");
    criterion.mutable_where()->add_windows("evening");
    input.criteria.push_back(criterion);
    return input.criteria.back();
  }

  // The next result, from sz-office in the evening by the echo probe. Valid until the next call.
  Observation& Add(const v1::Metric& metric) {
    Observation observation;
    observation.result_id = static_cast<int64_t>(input.observations.size()) + 1;
    observation.vantage = "sz-office";
    observation.window = "evening";
    observation.probe = "echo";
    observation.day = absl::CivilDay(2026, 12, 1);
    // 20:00 in Shanghai.
    observation.started_at =
        absl::FromCivil(absl::CivilSecond(2026, 12, 1, 12, 0, 0), absl::UTCTimeZone()) +
        absl::Minutes(10 * observation.result_id);
    observation.metrics = {metric};
    observation.evidence_sha256 = std::string(64, 'a');
    input.observations.push_back(observation);
    return input.observations.back();
  }

  void AddMany(int results, const v1::Metric& metric, const std::string& vantage = "sz-office",
               const std::string& window = "evening") {
    for (int i = 0; i < results; ++i) {
      Observation& observation = Add(metric);
      observation.vantage = vantage;
      observation.window = window;
    }
  }

  Observation& AddUseless(v1::Outcome outcome, const std::string& reason) {
    Observation& observation = Add(v1::Metric());
    observation.metrics.clear();
    observation.outcome = outcome;
    observation.reason.set_id(reason);
    return observation;
  }

  v1::Verdict Evaluated() const { return Evaluate(input).value(); }
  v1::CriterionVerdict Criterion() const { return Evaluated().criteria(0); }
  v1::GroupVerdict Group(int index = 0) const { return Criterion().groups(index); }

  VerdictInput input;
};

}  // namespace assay::verdict

#endif  // ASSAY_TESTS_CORE_VERDICT_SCENE_H_
