#include "server/rpc/caller.h"

#include <optional>

#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/rpc/peer.h"

namespace assay::rpc {

absl::StatusOr<store::CertificateRecord> IdentifyPeer(const grpc::AuthContext& context,
                                                      const dispatch::Access& access) {
  ASSAY_ASSIGN_OR_RETURN(std::optional<tls::CertificateInfo> certificate, PeerCertificate(context));
  if (!certificate.has_value()) {
    return Error(absl::StatusCode::kUnauthenticated, "identity.certificate_needed");
  }
  return access.Identify(certificate->serial);
}

absl::StatusOr<store::CertificateRecord> CallerOf(const grpc::ServerContextBase& context,
                                                  const dispatch::Access& access) {
  return IdentifyPeer(*context.auth_context(), access);
}

}  // namespace assay::rpc
