// Who is calling, by their TLS certificate and nothing else.
#ifndef ASSAY_COMMON_RPC_PEER_H_
#define ASSAY_COMMON_RPC_PEER_H_

#include <grpcpp/security/auth_context.h>

#include <optional>

#include "absl/status/statusor.h"
#include "common/tls/identity.h"

namespace assay::rpc {

// The leaf that the peer of a connection presented and proved to own; nullopt where it presented
// none. On a server, TLS has checked that the CA issued it and that it was valid when the
// connection was made; it may have been revoked, or have expired since. UNAUTHENTICATED where the
// connection is not TLS or the certificate cannot be read.
absl::StatusOr<std::optional<tls::CertificateInfo>> PeerCertificate(
    const grpc::AuthContext& context);

}  // namespace assay::rpc

#endif  // ASSAY_COMMON_RPC_PEER_H_
