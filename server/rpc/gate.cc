#include "server/rpc/gate.h"

#include "common/rpc/status.h"
#include "server/rpc/caller.h"

namespace assay::rpc {
namespace {

constexpr char kEnrolMethod[] = "/assay.v1.EnrolmentService/Enrol";

}  // namespace

grpc::Status Gate::Process(const InputMetadata& metadata, grpc::AuthContext* context,
                           OutputMetadata*, OutputMetadata*) {
  auto path = metadata.find(":path");
  if (path != metadata.end() && path->second == kEnrolMethod) return grpc::Status::OK;
  return ToGrpc(IdentifyPeer(*context, *access_).status());
}

}  // namespace assay::rpc
