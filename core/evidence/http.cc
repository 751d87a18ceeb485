// Request evidence. Times are curl's: each includes the phases before it, 0 means not reached. Only
// successful requests time a phase: the delay of an error page says nothing about the service.
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "core/evidence/kinds.h"

namespace assay::evidence {
namespace {

constexpr int64_t kMaxCertificateSeconds = 253402300799;  // end of the year 9999

// A phase of a request: its metric, its key in a summary, its column.
struct PhaseInfo {
  const char* metric;
  const char* key;
  int64_t (v1::HttpSample::*column)() const;
};

constexpr PhaseInfo kPhases[] = {
    {"http.name_lookup_ms", "name_lookup_ms", &v1::HttpSample::name_lookup_ns},
    {"http.connect_ms", "connect_ms", &v1::HttpSample::connect_ns},
    {"http.tls_ms", "tls_ms", &v1::HttpSample::tls_ns},
    {"http.first_byte_ms", "first_byte_ms", &v1::HttpSample::first_byte_ns},
    {"http.total_ms", "total_ms", &v1::HttpSample::total_ns},
};

struct RequestReason {
  v1::HttpOutcome outcome;
  const char* key;
};

constexpr RequestReason kRequestReasons[] = {
    {v1::HTTP_OUTCOME_NAME_LOOKUP, "name_lookup"},
    {v1::HTTP_OUTCOME_CONNECT, "connect"},
    {v1::HTTP_OUTCOME_TLS, "tls"},
    {v1::HTTP_OUTCOME_TIMED_OUT, "timed_out"},
    {v1::HTTP_OUTCOME_STATUS, "status"},
    {v1::HTTP_OUTCOME_TRUNCATED, "truncated"},
    {v1::HTTP_OUTCOME_OTHER, "other"},
};

absl::Status CheckRequests(const v1::HttpEvidence& evidence) {
  for (const v1::HttpSample& sample : evidence.samples()) {
    int outcome = sample.outcome();
    if (!v1::HttpOutcome_IsValid(outcome) || outcome == v1::HTTP_OUTCOME_UNSPECIFIED) {
      return Contradiction("http", "an unknown outcome of a request");
    }
    if (sample.start_offset_ns() < 0) return Contradiction("http", "a request before the start");
    for (const PhaseInfo& phase : kPhases) {
      if ((sample.*phase.column)() < 0) return Contradiction("http", "a negative duration");
    }
    if (!std::isfinite(sample.speed_bytes_per_s()) || sample.speed_bytes_per_s() < 0) {
      return Contradiction("http", "a speed that is not a number");
    }
  }
  if (evidence.certificate_not_after_s() > kMaxCertificateSeconds ||
      evidence.certificate_not_after_s() < -kMaxCertificateSeconds) {
    return Contradiction("http", "an impossible date of a certificate");
  }
  return absl::OkStatus();
}

std::vector<double> PhaseTimes(const v1::HttpEvidence& evidence, const PhaseInfo& phase) {
  std::vector<double> values;
  for (const v1::HttpSample& sample : evidence.samples()) {
    int64_t time_ns = (sample.*phase.column)();
    if (sample.outcome() == v1::HTTP_OUTCOME_OK && time_ns > 0) {
      values.push_back(static_cast<double>(time_ns) / 1e6);
    }
  }
  return values;
}

// An empty body has no speed.
std::vector<double> Speeds(const v1::HttpEvidence& evidence) {
  std::vector<double> values;
  for (const v1::HttpSample& sample : evidence.samples()) {
    if (sample.outcome() == v1::HTTP_OUTCOME_OK && sample.body_bytes() > 0) {
      values.push_back(sample.speed_bytes_per_s());
    }
  }
  return values;
}

uint64_t Failures(const v1::HttpEvidence& evidence) {
  uint64_t failures = 0;
  for (const v1::HttpSample& sample : evidence.samples()) {
    if (sample.outcome() != v1::HTTP_OUTCOME_OK) ++failures;
  }
  return failures;
}

}  // namespace

absl::StatusOr<std::vector<v1::Metric>> DeriveHttp(const v1::HttpEvidence& evidence) {
  ASSAY_RETURN_IF_ERROR(CheckRequests(evidence));
  bool secure = absl::StartsWith(absl::string_view(evidence.url()), "https:");
  std::vector<v1::Metric> metrics;
  metrics.push_back(Proportion("http.failure_ratio", Failures(evidence),
                               static_cast<uint64_t>(evidence.samples_size())));
  for (const PhaseInfo& phase : kPhases) {
    std::vector<double> values = PhaseTimes(evidence, phase);
    bool applies = phase.column != &v1::HttpSample::tls_ns || secure;
    if (applies || !values.empty()) metrics.push_back(Samples(phase.metric, values));
  }
  metrics.push_back(Samples("http.speed_bytes_per_s", Speeds(evidence)));
  return metrics;
}

absl::StatusOr<nlohmann::ordered_json> SummariseHttp(const v1::HttpEvidence& evidence) {
  ASSAY_RETURN_IF_ERROR(CheckRequests(evidence));
  auto requests = static_cast<uint64_t>(evidence.samples_size());
  nlohmann::ordered_json summary;
  summary["requests"] = requests;
  summary["failures"] = Failures(evidence);
  summary["failure_ratio"] = Ratio(Failures(evidence), requests);
  std::map<int, uint64_t> outcomes;
  std::map<uint32_t, uint64_t> statuses;
  for (const v1::HttpSample& sample : evidence.samples()) {
    ++outcomes[sample.outcome()];
    if (sample.status() != 0) ++statuses[sample.status()];
  }
  auto reasons = nlohmann::ordered_json::object();
  for (const RequestReason& reason : kRequestReasons) {
    if (outcomes[reason.outcome] > 0) reasons[reason.key] = outcomes[reason.outcome];
  }
  summary["reasons"] = std::move(reasons);
  const std::vector<QuantileKey> keys = {{"min", 0}, {"median", 0.5}, {"p95", 0.95}, {"max", 1}};
  for (const PhaseInfo& phase : kPhases) {
    summary[phase.key] = Quantiles(PhaseTimes(evidence, phase), keys);
  }
  summary["speed_bytes_per_s"] = Quantiles(Speeds(evidence), keys);
  auto status = nlohmann::ordered_json::object();
  for (const auto& [code, count] : statuses) status[std::to_string(code)] = count;
  summary["status"] = std::move(status);
  if (evidence.certificate_not_after_s() == 0) {
    summary["certificate_expires_at"] = nullptr;
  } else {
    absl::Time end = absl::FromUnixSeconds(evidence.certificate_not_after_s());
    summary["certificate_expires_at"] =
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", end, absl::UTCTimeZone());
  }
  summary["certificate_unchecked"] = evidence.certificate_unchecked();
  return summary;
}

}  // namespace assay::evidence
