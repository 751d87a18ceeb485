// Connect evidence. A connect that took +1 s, +3 s or +7 s was not slow: its SYN was lost and sent
// again (RFC 6298), which syn_retransmits says.
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status_macros.h"
#include "core/evidence/kinds.h"

namespace assay::evidence {
namespace {

struct ConnectReading {
  uint64_t attempts = 0;
  uint64_t failures = 0;
  uint64_t retransmits = 0;    // SYNs sent again
  uint64_t retransmitted = 0;  // connects with at least one of them
  std::vector<double> connect_ms;
  uint64_t by_outcome[v1::ConnectOutcome_ARRAYSIZE] = {};
};

absl::Status CheckConnects(const v1::TcpEvidence& evidence) {
  int size = evidence.outcomes_size();
  if (evidence.start_offset_ns_size() != size || evidence.connect_ns_size() != size ||
      evidence.syn_retransmits_size() != size || evidence.connect_errno_size() != size) {
    return Contradiction("tcp", "columns of different lengths");
  }
  for (int i = 0; i < size; ++i) {
    int outcome = evidence.outcomes(i);
    if (!v1::ConnectOutcome_IsValid(outcome) || outcome == v1::CONNECT_OUTCOME_UNSPECIFIED) {
      return Contradiction("tcp", "an unknown outcome of a connect");
    }
    if (evidence.connect_ns(i) < 0) return Contradiction("tcp", "a negative duration");
    if (evidence.start_offset_ns(i) < 0) {
      return Contradiction("tcp", "a connect before the start");
    }
    if (outcome == v1::CONNECT_OUTCOME_CONNECTED && evidence.connect_errno(i) != 0) {
      return Contradiction("tcp", "a connect that succeeded with an error");
    }
  }
  return absl::OkStatus();
}

ConnectReading ReadConnects(const v1::TcpEvidence& evidence) {
  ConnectReading reading;
  for (int i = 0; i < evidence.outcomes_size(); ++i) {
    ++reading.attempts;
    ++reading.by_outcome[evidence.outcomes(i)];
    reading.retransmits += evidence.syn_retransmits(i);
    if (evidence.syn_retransmits(i) > 0) ++reading.retransmitted;
    if (evidence.outcomes(i) == v1::CONNECT_OUTCOME_CONNECTED) {
      reading.connect_ms.push_back(static_cast<double>(evidence.connect_ns(i)) / 1e6);
    } else {
      ++reading.failures;
    }
  }
  return reading;
}

struct ConnectReason {
  v1::ConnectOutcome outcome;
  const char* key;
};

constexpr ConnectReason kConnectReasons[] = {
    {v1::CONNECT_OUTCOME_REFUSED, "refused"},
    {v1::CONNECT_OUTCOME_TIMED_OUT, "timed_out"},
    {v1::CONNECT_OUTCOME_UNREACHABLE, "unreachable"},
    {v1::CONNECT_OUTCOME_RESET, "reset"},
    {v1::CONNECT_OUTCOME_OTHER, "other"},
};

}  // namespace

absl::StatusOr<std::vector<v1::Metric>> DeriveTcp(const v1::TcpEvidence& evidence) {
  ASSAY_RETURN_IF_ERROR(CheckConnects(evidence));
  ConnectReading reading = ReadConnects(evidence);
  return std::vector<v1::Metric>{
      Proportion("tcp.failure_ratio", reading.failures, reading.attempts),
      Samples("tcp.connect_ms", reading.connect_ms),
      Proportion("tcp.syn_retransmit_ratio", reading.retransmitted, reading.attempts),
  };
}

absl::StatusOr<nlohmann::ordered_json> SummariseTcp(const v1::TcpEvidence& evidence) {
  ASSAY_RETURN_IF_ERROR(CheckConnects(evidence));
  ConnectReading reading = ReadConnects(evidence);
  nlohmann::ordered_json summary;
  summary["attempts"] = reading.attempts;
  summary["failures"] = reading.failures;
  summary["failure_ratio"] = Ratio(reading.failures, reading.attempts);
  auto reasons = nlohmann::ordered_json::object();
  for (const ConnectReason& reason : kConnectReasons) {
    if (reading.by_outcome[reason.outcome] > 0) {
      reasons[reason.key] = reading.by_outcome[reason.outcome];
    }
  }
  summary["reasons"] = std::move(reasons);
  summary["syn_retransmits"] = reading.retransmits;
  summary["syn_retransmit_ratio"] = Ratio(reading.retransmitted, reading.attempts);
  summary["connect_ms"] = Quantiles(
      reading.connect_ms, {{"min", 0}, {"median", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"max", 1}});
  summary["start_failures"] = evidence.start_failures();
  return summary;
}

}  // namespace assay::evidence
