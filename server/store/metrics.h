// Table metrics: the figures of a result.
#ifndef ASSAY_SERVER_STORE_METRICS_H_
#define ASSAY_SERVER_STORE_METRICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "assay/v1/result.pb.h"
#include "server/store/connection.h"

namespace assay::store::metrics {

absl::Status Insert(Connection& db, int64_t result_id, const std::vector<v1::Metric>& metrics);
// Appends them in the order in which they were inserted.
absl::Status Take(Connection& db, int64_t result_id,
                  google::protobuf::RepeatedPtrField<v1::Metric>& metrics);

// IEEE 754 doubles, little-endian, 8 bytes each.
std::string PackSamples(const google::protobuf::RepeatedField<double>& values);
// False where the size is not a multiple of 8.
bool UnpackSamples(absl::string_view bytes, google::protobuf::RepeatedField<double>& values);

}  // namespace assay::store::metrics

#endif  // ASSAY_SERVER_STORE_METRICS_H_
