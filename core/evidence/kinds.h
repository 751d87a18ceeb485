// The readers of each kind of evidence, behind derive.h. Each of Derive... and Summarise... first
// checks its evidence, which may come from outside.
#ifndef ASSAY_CORE_EVIDENCE_KINDS_H_
#define ASSAY_CORE_EVIDENCE_KINDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/result.pb.h"
#include "nlohmann/json.hpp"

namespace assay::evidence {

absl::StatusOr<std::vector<v1::Metric>> DeriveIcmp(const v1::IcmpEvidence& evidence);
absl::StatusOr<std::vector<v1::Metric>> DeriveTcp(const v1::TcpEvidence& evidence);
absl::StatusOr<std::vector<v1::Metric>> DeriveHttp(const v1::HttpEvidence& evidence);

absl::StatusOr<nlohmann::ordered_json> SummariseIcmp(const v1::IcmpEvidence& evidence);
absl::StatusOr<nlohmann::ordered_json> SummariseTcp(const v1::TcpEvidence& evidence);
absl::StatusOr<nlohmann::ordered_json> SummariseHttp(const v1::HttpEvidence& evidence);

// Building blocks of the readers.

// INVALID_ARGUMENT: evidence of `kind` contradicts itself, by `detail`.
absl::Status Contradiction(absl::string_view kind, absl::string_view detail);

v1::Metric Proportion(absl::string_view name, uint64_t events, uint64_t trials);
v1::Metric Samples(absl::string_view name, const std::vector<double>& values);

// One quantity of a distribution and the key under which a summary shows it.
struct QuantileKey {
  const char* key;
  double p;
};
// {"min": .., "median": ..}; null for each where there are no values, never 0. The same sample
// quantile as verdicts use (core/statistics: type 1, always a value that was measured); p of 0 is
// the minimum, 1 the maximum.
nlohmann::ordered_json Quantiles(std::vector<double> values, const std::vector<QuantileKey>& keys);

// null for 0 of 0.
nlohmann::ordered_json Ratio(uint64_t events, uint64_t trials);

}  // namespace assay::evidence

#endif  // ASSAY_CORE_EVIDENCE_KINDS_H_
