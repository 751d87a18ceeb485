// Tables results, evidence and metrics. Meanings as in store.h.
#ifndef ASSAY_SERVER_STORE_RESULTS_H_
#define ASSAY_SERVER_STORE_RESULTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/control.pb.h"
#include "server/store/connection.h"
#include "server/store/records.h"

namespace assay::store::results {

// Takes `result` apart: evidence is moved out of it.
absl::StatusOr<AppendResult> Append(Connection& db, NewResult& result);
absl::StatusOr<std::vector<v1::StoredResult>> List(Connection& db, const ResultFilter& filter);
absl::StatusOr<v1::StoredResult> Get(Connection& db, int64_t id);

}  // namespace assay::store::results

#endif  // ASSAY_SERVER_STORE_RESULTS_H_
