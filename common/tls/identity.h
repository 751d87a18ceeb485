// Keys and certificates of one party: coordinator, agent or person.
//
// An identity is one PEM file (key, certificate, CA), mode 0600, replaced by rename so that a
// reader never sees a key without its certificate.
#ifndef ASSAY_COMMON_TLS_IDENTITY_H_
#define ASSAY_COMMON_TLS_IDENTITY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace assay::tls {

struct Identity {
  std::string key_pem;    // PKCS #8
  std::string chain_pem;  // leaf first, CA last
  std::string ca_pem;     // trusted root
};

struct CertificateInfo {
  std::string serial;  // hex, lower case
  std::string uri;     // first URI SAN, "assay://<coordinator>/agent/<id>"; empty: none
  absl::Time not_before;
  absl::Time not_after;
  std::string sha256;  // "sha256:" and 64 hex digits over the DER
};

// A fresh P-256 key, PKCS #8 PEM.
absl::StatusOr<std::string> GenerateKey();
// PKCS #10 request signed by the key, DER. The subject is empty: the CA decides.
absl::StatusOr<std::string> MakeCsr(absl::string_view key_pem);
// Of the first certificate in the PEM.
absl::StatusOr<CertificateInfo> ReadCertificate(absl::string_view pem);

// OK only if the key belongs to the leaf and the chain ends in the CA. Says nothing of validity
// periods: a host whose clock is wrong still has its identity.
absl::Status CheckIdentity(const Identity& identity);
// Key, leaf and CA out of one PEM text; checked.
absl::StatusOr<Identity> ParseIdentity(absl::string_view pem);
absl::StatusOr<Identity> LoadIdentity(const std::string& path);
// Checks first, then writes atomically.
absl::Status SaveIdentity(const std::string& path, const Identity& identity);

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_IDENTITY_H_
