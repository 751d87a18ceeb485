// Who may enter and do what: join tokens, certificates, roles, revocation.
//
// Every call is decided here, by the serial of the certificate that TLS has verified: a certificate
// that the store doesn't list is refused even if the CA signed it.
#ifndef ASSAY_SERVER_DISPATCH_ACCESS_H_
#define ASSAY_SERVER_DISPATCH_ACCESS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "assay/v1/control.pb.h"
#include "common/clock/clock.h"
#include "server/pki/authority.h"
#include "server/store/store.h"

namespace assay::dispatch {

struct AccessOptions {
  store::Store* store = nullptr;
  pki::Authority* authority = nullptr;
  const Clock* clock = nullptr;
  // host:port that agents and people are told to dial.
  std::string advertised_address;
  absl::Duration agent_lifetime = absl::Hours(24 * 30);
  absl::Duration person_lifetime = absl::Hours(24 * 90);
};

// Thread-safe. Calls that write block until the change is durable.
class Access {
 public:
  static absl::StatusOr<std::unique_ptr<Access>> Create(AccessOptions options);

  // Whose certificate it is. UNAUTHENTICATED: unknown, revoked or expired.
  absl::StatusOr<store::CertificateRecord> Identify(absl::string_view serial) const;

  // PERMISSION_DENIED where the person's role is lower, or the caller is no person.
  static absl::Status RequireRole(const store::CertificateRecord& caller, v1::Role needed);

  absl::StatusOr<v1::CreateTokenResponse> CreateToken(const v1::CreateTokenRequest& request,
                                                      const store::CertificateRecord& caller);
  absl::StatusOr<v1::EnrolResponse> Enrol(const v1::EnrolRequest& request);
  // For the coordinator's own first admin: no token, same kind of certificate.
  absl::StatusOr<v1::EnrolResponse> EnrolFirstAdmin(absl::string_view csr_der,
                                                    absl::string_view name);
  absl::StatusOr<v1::RenewResponse> Renew(const store::CertificateRecord& caller,
                                          absl::string_view csr_der);
  // How many certificates were revoked. NOT_FOUND where the subject has none.
  absl::StatusOr<uint32_t> Revoke(const store::Subject& subject, absl::string_view reason);

  const std::string& coordinator_name() const { return options_.authority->coordinator_name(); }

 private:
  explicit Access(AccessOptions options) : options_(std::move(options)) {}
  absl::Status Reload();
  void Remember(const store::CertificateRecord& record, bool supersedes);

  const AccessOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, store::CertificateRecord, std::less<>> certificates_;  // by serial
};

// "viewer", "operator", "admin".
std::string RoleName(v1::Role role);

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_ACCESS_H_
