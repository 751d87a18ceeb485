// Table documents: servers, vantages, profiles and plans as they were applied.
#ifndef ASSAY_SERVER_STORE_DOCUMENTS_H_
#define ASSAY_SERVER_STORE_DOCUMENTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"
#include "server/store/connection.h"

namespace assay::store::documents {

absl::Status Put(Connection& db, const std::vector<v1::Document>& documents);
absl::StatusOr<v1::Document> Get(Connection& db, absl::string_view kind, absl::string_view name);
absl::StatusOr<std::vector<v1::Document>> List(Connection& db, absl::string_view kind);

}  // namespace assay::store::documents

#endif  // ASSAY_SERVER_STORE_DOCUMENTS_H_
