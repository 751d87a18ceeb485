// Certificate requests from outside: read, and believed only as far as their own key signs them.
#ifndef ASSAY_SERVER_PKI_CSR_H_
#define ASSAY_SERVER_PKI_CSR_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/tls/openssl.h"

namespace assay::pki {

// The public key of a PKCS #10 request (DER, at most 16 KiB). INVALID_ARGUMENT where it cannot be
// read, is not signed by that key, or the key is not P-256, P-384, P-521 or RSA of 2048 to 8192
// bits.
absl::StatusOr<tls::KeyPtr> ReadCsr(absl::string_view der);

}  // namespace assay::pki

#endif  // ASSAY_SERVER_PKI_CSR_H_
