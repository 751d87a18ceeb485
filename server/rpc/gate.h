// Deny by default: no call but enrolment passes without a valid certificate, whichever service it
// is for, health and reflection included. What a caller may do is decided by the services.
#ifndef ASSAY_SERVER_RPC_GATE_H_
#define ASSAY_SERVER_RPC_GATE_H_

#include <grpcpp/security/auth_metadata_processor.h>

#include "server/dispatch/access.h"

namespace assay::rpc {

class Gate final : public grpc::AuthMetadataProcessor {
 public:
  explicit Gate(const dispatch::Access* access) : access_(access) {}

  // Looks the certificate up in memory.
  bool IsBlocking() const override { return false; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* consumed, OutputMetadata* response) override;

 private:
  const dispatch::Access* const access_;
};

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_GATE_H_
