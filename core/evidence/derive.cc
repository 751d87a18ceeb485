#include "core/evidence/derive.h"

#include "core/evidence/kinds.h"
#include "nlohmann/json.hpp"

namespace assay::evidence {

absl::StatusOr<std::vector<v1::Metric>> DeriveMetrics(const v1::Evidence& evidence) {
  switch (evidence.kind_case()) {
    case v1::Evidence::kIcmp:
      return DeriveIcmp(evidence.icmp());
    case v1::Evidence::kTcp:
      return DeriveTcp(evidence.tcp());
    case v1::Evidence::kHttp:
      return DeriveHttp(evidence.http());
    case v1::Evidence::KIND_NOT_SET:
      break;
  }
  return Contradiction("?", "no kind that this version knows");
}

absl::StatusOr<nlohmann::ordered_json> Summarise(const v1::Evidence& evidence) {
  switch (evidence.kind_case()) {
    case v1::Evidence::kIcmp:
      return SummariseIcmp(evidence.icmp());
    case v1::Evidence::kTcp:
      return SummariseTcp(evidence.tcp());
    case v1::Evidence::kHttp:
      return SummariseHttp(evidence.http());
    case v1::Evidence::KIND_NOT_SET:
      break;
  }
  return Contradiction("?", "no kind that this version knows");
}

}  // namespace assay::evidence
