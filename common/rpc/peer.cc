#include "common/rpc/peer.h"

#include <grpc/grpc_security_constants.h>

#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/message.h"

namespace assay::rpc {
namespace {

// The property's only value; "" where there is none, or more than one (never the case with TLS).
absl::string_view PropertyOf(const grpc::AuthContext& context, const char* name) {
  std::vector<grpc::string_ref> values = context.FindPropertyValues(name);
  if (values.size() != 1) return "";
  return absl::string_view(values.front().data(), values.front().size());
}

}  // namespace

absl::StatusOr<std::optional<tls::CertificateInfo>> PeerCertificate(
    const grpc::AuthContext& context) {
  // "ssl" on our channels, "tls" on servers whose certificates rotate.
  absl::string_view transport = PropertyOf(context, GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  if (transport != GRPC_SSL_TRANSPORT_SECURITY_TYPE &&
      transport != GRPC_TLS_TRANSPORT_SECURITY_TYPE) {
    return Error(absl::StatusCode::kUnauthenticated, "identity.not_over_tls");
  }
  absl::string_view pem = PropertyOf(context, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (pem.empty() && !context.IsPeerAuthenticated()) return std::nullopt;
  absl::StatusOr<tls::CertificateInfo> certificate = tls::ReadCertificate(pem);
  if (!certificate.ok()) {
    return Error(absl::StatusCode::kUnauthenticated, "identity.unreadable_peer");
  }
  return *std::move(certificate);
}

}  // namespace assay::rpc
