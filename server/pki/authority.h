// The coordinator's own certificate authority.
//
// Certificates carry a URI SAN that says who they are for: assay://<coordinator>/agent/<agent id>,
// .../person/<name>, .../coordinator. They begin 25 hours in the past, so that a host whose clock
// is a day slow can still connect and be told so.
#ifndef ASSAY_SERVER_PKI_AUTHORITY_H_
#define ASSAY_SERVER_PKI_AUTHORITY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/tls/identity.h"
#include "server/store/records.h"

namespace assay::pki {

enum class PeerKind { kAgent, kPerson, kCoordinator };

// What a URI SAN says. Whether an agent is on a server or a vantage is the store's knowledge.
struct PeerName {
  std::string coordinator;
  PeerKind kind = PeerKind::kAgent;
  std::string id;  // agent id or person; empty for the coordinator
};
// UNAUTHENTICATED for anything but what FormatPeerUri() writes: one name has one spelling.
absl::StatusOr<PeerName> ParsePeerUri(absl::string_view uri);
// Bytes of the id outside A-Z a-z 0-9 - . _ are percent-encoded (RFC 3986), so people may have
// names in any script.
std::string FormatPeerUri(const PeerName& name);

struct IssuedCertificate {
  std::string chain_pem;  // leaf, CA
  store::CertificateRecord record;
};

// Thread-safe.
class Authority {
 public:
  // Creates CA key and certificate in `directory` (ca.key 0600, ca.pem), which must exist.
  // ALREADY_EXISTS where there is one; a key without a certificate is left by a crash during
  // creation, was never used, and is replaced. The coordinator's name has 1 to 50 characters of
  // A-Z a-z 0-9 - . _
  static absl::Status Create(const std::string& directory, absl::string_view coordinator_name,
                             absl::Time now);
  static absl::StatusOr<std::unique_ptr<Authority>> Load(const std::string& directory);

  virtual ~Authority() = default;
  virtual const std::string& coordinator_name() const = 0;
  virtual const std::string& ca_pem() const = 0;
  virtual std::string ca_fingerprint() const = 0;

  // Signs the request for an agent (`agent_id` set) or a person. The request must be signed by its
  // own key (P-256 or better, RSA 2048 or better). Nothing else in the request counts. The
  // certificate ends with the CA's if that is earlier. INVALID_ARGUMENT for a bad request or
  // subject, FAILED_PRECONDITION where the CA is not valid at `now`.
  virtual absl::StatusOr<IssuedCertificate> Issue(absl::string_view csr_der,
                                                  const store::Subject& subject,
                                                  absl::string_view agent_id, absl::Time now,
                                                  absl::Duration lifetime) = 0;
  // The coordinator's own serving identity, with DNS and IP SANs for `names` (at least one), and a
  // new key. Its chain ends in the
  // CA so that a joining agent can find it by its fingerprint.
  virtual absl::StatusOr<tls::Identity> IssueServing(const std::vector<std::string>& names,
                                                     absl::Time now, absl::Duration lifetime) = 0;
};

// A join token: "assay-" and 32 characters of base32, 160 random bits. And its SHA-256, hex.
std::string NewToken();
std::string HashToken(absl::string_view token);
// A new agent id: "a-" and 16 characters.
std::string NewAgentId();

}  // namespace assay::pki

#endif  // ASSAY_SERVER_PKI_AUTHORITY_H_
