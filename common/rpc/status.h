// Statuses across gRPC: the code one to one, and the catalogue message in the binary error details
// (grpc-status-details-bin holds a serialised assay.v1.Message), so that the other side renders it
// in its reader's language.
#ifndef ASSAY_COMMON_RPC_STATUS_H_
#define ASSAY_COMMON_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace assay::rpc {

// Texts are cut so that they fit into HTTP/2 trailers: the English sentence at 1 KiB, arguments of
// the message at 2 KiB each, and no message at all above 12 KiB.
grpc::Status ToGrpc(const absl::Status& status);

// A status without details, such as gRPC's own, keeps its text.
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace assay::rpc

#endif  // ASSAY_COMMON_RPC_STATUS_H_
