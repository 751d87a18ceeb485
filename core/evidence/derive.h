// From raw evidence to figures. Pure: evidence kept for years can be derived again and gives the
// same.
#ifndef ASSAY_CORE_EVIDENCE_DERIVE_H_
#define ASSAY_CORE_EVIDENCE_DERIVE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/result.pb.h"
#include "nlohmann/json_fwd.hpp"

namespace assay::evidence {

// Metrics of the catalogue that this evidence yields. INVALID_ARGUMENT for evidence that
// contradicts itself (columns of different lengths, no kind): it came from outside.
absl::StatusOr<std::vector<v1::Metric>> DeriveMetrics(const v1::Evidence& evidence);

// The `summary` object of `assay-agent probe --output json`: keys as ../docs/reference.md lists.
absl::StatusOr<nlohmann::ordered_json> Summarise(const v1::Evidence& evidence);

// Deterministic serialisation, compressed by zstd; and back. Unpack refuses more than 64 MiB of
// decompressed bytes.
absl::StatusOr<std::string> Pack(const v1::Evidence& evidence);
absl::StatusOr<v1::Evidence> Unpack(absl::string_view evidence_zstd);

}  // namespace assay::evidence

#endif  // ASSAY_CORE_EVIDENCE_DERIVE_H_
