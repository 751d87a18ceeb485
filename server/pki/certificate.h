// Makes certificates: what stands in them, and the signature.
#ifndef ASSAY_SERVER_PKI_CERTIFICATE_H_
#define ASSAY_SERVER_PKI_CERTIFICATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/tls/openssl.h"

namespace assay::pki {

// Certificates begin this long before they are made.
constexpr absl::Duration kBackdating = absl::Hours(25);

struct LeafRequest {
  std::string uri;
  std::vector<std::string> names;  // host names and addresses, numeric
  bool server = false;             // may serve TLS; every leaf may be a TLS client
  absl::Time not_before;
  absl::Time not_after;
};

// Self-signed, P-256 with SHA-256, path length 0, for signing certificates only.
absl::StatusOr<tls::CertificatePtr> MakeCaCertificate(EVP_PKEY& key, absl::string_view common_name,
                                                      absl::Time not_before, absl::Time not_after);

// The subject is empty; who it is for stands in the critical subject alternative name (RFC 5280,
// section 4.1.2.6).
absl::StatusOr<tls::CertificatePtr> MakeLeafCertificate(EVP_PKEY& public_key, X509& ca,
                                                        EVP_PKEY& ca_key,
                                                        const LeafRequest& request);

}  // namespace assay::pki

#endif  // ASSAY_SERVER_PKI_CERTIFICATE_H_
