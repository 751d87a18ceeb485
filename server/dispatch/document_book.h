// Documents: what was applied, and what applying something would change.
#ifndef ASSAY_SERVER_DISPATCH_DOCUMENT_BOOK_H_
#define ASSAY_SERVER_DISPATCH_DOCUMENT_BOOK_H_

#include "absl/status/statusor.h"
#include "assay/v1/control.pb.h"
#include "server/store/store.h"

namespace assay::dispatch {

// Stores all documents or none. A plan may only name servers, vantages and profiles that are stored
// or come with it: NOT_FOUND says which is missing. INVALID_ARGUMENT as document::Check() says.
// Nothing is stored with `dry_run`.
absl::StatusOr<v1::ApplyResponse> Apply(store::Store& store, const v1::ApplyRequest& request);

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_DOCUMENT_BOOK_H_
