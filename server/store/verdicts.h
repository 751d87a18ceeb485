// Table verdicts: what was decided, and when.
#ifndef ASSAY_SERVER_STORE_VERDICTS_H_
#define ASSAY_SERVER_STORE_VERDICTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/result.pb.h"
#include "server/store/connection.h"

namespace assay::store::verdicts {

absl::Status Put(Connection& db, const v1::Verdict& verdict);
absl::StatusOr<std::vector<v1::Verdict>> List(Connection& db, absl::string_view server,
                                              uint32_t limit);

}  // namespace assay::store::verdicts

#endif  // ASSAY_SERVER_STORE_VERDICTS_H_
