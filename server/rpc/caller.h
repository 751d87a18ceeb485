// Who is calling: the certificate that TLS has verified, looked up in Access.
#ifndef ASSAY_SERVER_RPC_CALLER_H_
#define ASSAY_SERVER_RPC_CALLER_H_

#include <grpcpp/server_context.h>

#include "absl/status/statusor.h"
#include "server/dispatch/access.h"

namespace assay::rpc {

// UNAUTHENTICATED without a certificate, or with one that is unknown, revoked or expired.
absl::StatusOr<store::CertificateRecord> CallerOf(const grpc::ServerContextBase& context,
                                                  const dispatch::Access& access);

// The same from a connection's TLS facts.
absl::StatusOr<store::CertificateRecord> IdentifyPeer(const grpc::AuthContext& context,
                                                      const dispatch::Access& access);

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_CALLER_H_
