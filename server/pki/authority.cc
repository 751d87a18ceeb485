#include "server/pki/authority.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "common/tls/dial.h"
#include "common/tls/openssl.h"
#include "server/pki/certificate.h"
#include "server/pki/csr.h"
#include "server/pki/names.h"

namespace assay::pki {
namespace {

constexpr absl::Duration kCaLifetime = absl::Hours(24 * 3652);  // ten years
constexpr absl::string_view kCommonNameSuffix = " CA";

std::string KeyPath(const std::string& directory) { return directory + "/ca.key"; }
std::string CertificatePath(const std::string& directory) { return directory + "/ca.pem"; }

std::string Utc(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

absl::Status BadCa(const std::string& path, absl::string_view detail) {
  return Error(absl::StatusCode::kFailedPrecondition, "identity.bad_ca",
               {{"path", path}, {"detail", std::string(detail)}});
}

absl::Status BadSubject(absl::string_view detail) {
  return Error(absl::StatusCode::kInvalidArgument, "identity.bad_subject",
               {{"detail", std::string(detail)}});
}

std::string CommonNameOf(const X509& certificate) {
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return "";
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index));
  return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                     static_cast<size_t>(ASN1_STRING_length(value)));
}

// OpenSSL's objects are only read after construction; reading is thread-safe.
class OpenSslAuthority : public Authority {
 public:
  OpenSslAuthority(std::string name, std::string pem, tls::KeyPtr key, tls::CertificatePtr ca,
                   absl::Time not_before, absl::Time not_after)
      : name_(std::move(name)),
        pem_(std::move(pem)),
        key_(std::move(key)),
        ca_(std::move(ca)),
        not_before_(not_before),
        not_after_(not_after) {}

  const std::string& coordinator_name() const override { return name_; }
  const std::string& ca_pem() const override { return pem_; }
  std::string ca_fingerprint() const override { return tls::FingerprintOf(*ca_); }

  absl::StatusOr<IssuedCertificate> Issue(absl::string_view csr_der, const store::Subject& subject,
                                          absl::string_view agent_id, absl::Time now,
                                          absl::Duration lifetime) override {
    ASSAY_ASSIGN_OR_RETURN(PeerName peer, PeerFor(subject, agent_id));
    ASSAY_ASSIGN_OR_RETURN(tls::KeyPtr key, ReadCsr(csr_der));
    ASSAY_ASSIGN_OR_RETURN(std::string leaf,
                           Sign(*key, FormatPeerUri(peer), /*names=*/{}, now, lifetime));
    // The record is read back from the certificate, so that the two cannot differ.
    ASSAY_ASSIGN_OR_RETURN(tls::CertificateInfo info, tls::ReadCertificate(leaf));
    IssuedCertificate issued;
    issued.chain_pem = leaf + pem_;
    issued.record.serial = info.serial;
    issued.record.subject = subject;
    issued.record.agent_id = std::string(agent_id);
    issued.record.not_before = info.not_before;
    issued.record.not_after = info.not_after;
    return issued;
  }

  absl::StatusOr<tls::Identity> IssueServing(const std::vector<std::string>& names, absl::Time now,
                                             absl::Duration lifetime) override {
    if (names.empty()) {
      return Error(absl::StatusCode::kInvalidArgument, "identity.no_serving_name");
    }
    for (const std::string& name : names) {
      // ParseHostPort knows what a host is; here nothing may follow it.
      absl::StatusOr<tls::HostPort> host = tls::ParseHostPort(name);
      if (!host.ok() || host->host != name || absl::StrContains(name, '%')) {
        return Error(absl::StatusCode::kInvalidArgument, "identity.bad_serving_name",
                     {{"name", absl::CHexEscape(name.substr(0, 300))}});
      }
    }
    tls::Identity identity;
    ASSAY_ASSIGN_OR_RETURN(identity.key_pem, tls::GenerateKey());
    ASSAY_ASSIGN_OR_RETURN(tls::KeyPtr key, tls::ParseKey(identity.key_pem));
    std::string uri = FormatPeerUri({name_, PeerKind::kCoordinator, ""});
    ASSAY_ASSIGN_OR_RETURN(identity.chain_pem, Sign(*key, uri, names, now, lifetime));
    identity.chain_pem += pem_;
    identity.ca_pem = pem_;
    return identity;
  }

 private:
  absl::StatusOr<PeerName> PeerFor(const store::Subject& subject, absl::string_view agent_id) {
    PeerName peer;
    peer.coordinator = name_;
    switch (subject.kind) {
      case v1::SUBJECT_KIND_SERVER:
      case v1::SUBJECT_KIND_VANTAGE:
        peer.kind = PeerKind::kAgent;
        peer.id = std::string(agent_id);
        break;
      case v1::SUBJECT_KIND_PERSON:
        if (!agent_id.empty()) return BadSubject("a person has no agent id");
        peer.kind = PeerKind::kPerson;
        peer.id = subject.name;
        break;
      default:
        return BadSubject("neither server, vantage nor person");
    }
    if (!IsPeerId(peer.id)) return BadSubject("its id must have 1 to 256 bytes");
    return peer;
  }

  // PEM of a new leaf; one that may serve TLS where it has names.
  absl::StatusOr<std::string> Sign(EVP_PKEY& public_key, const std::string& uri,
                                   const std::vector<std::string>& names, absl::Time now,
                                   absl::Duration lifetime) {
    if (now < not_before_ || now >= not_after_) {
      return Error(absl::StatusCode::kFailedPrecondition, "identity.ca_expired",
                   {{"now", Utc(now)}, {"from", Utc(not_before_)}, {"to", Utc(not_after_)}});
    }
    if (lifetime <= absl::ZeroDuration()) return BadSubject("its lifetime is not positive");
    LeafRequest request;
    request.uri = uri;
    request.names = names;
    request.server = !names.empty();
    request.not_before = std::max(now - kBackdating, not_before_);
    request.not_after = std::min(now + lifetime, not_after_);
    ASSAY_ASSIGN_OR_RETURN(tls::CertificatePtr leaf,
                           MakeLeafCertificate(public_key, *ca_, *key_, request));
    return tls::CertificateToPem(*leaf);
  }

  const std::string name_;
  const std::string pem_;
  const tls::KeyPtr key_;
  const tls::CertificatePtr ca_;
  const absl::Time not_before_;
  const absl::Time not_after_;
};

}  // namespace

absl::Status Authority::Create(const std::string& directory, absl::string_view coordinator_name,
                               absl::Time now) {
  if (!IsCoordinatorName(coordinator_name)) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_coordinator_name",
                 {{"name", absl::CHexEscape(coordinator_name.substr(0, 300))}});
  }
  // The certificate is written last: where it is missing, the key has signed nothing.
  absl::StatusOr<std::string> present = files::Read(CertificatePath(directory));
  if (!absl::IsNotFound(present.status())) {
    if (!present.ok()) return present.status();
    return Error(absl::StatusCode::kAlreadyExists, "identity.ca_exists", {{"path", directory}});
  }
  ASSAY_ASSIGN_OR_RETURN(std::string key_pem, tls::GenerateKey());
  ASSAY_ASSIGN_OR_RETURN(tls::KeyPtr key, tls::ParseKey(key_pem));
  ASSAY_ASSIGN_OR_RETURN(tls::CertificatePtr certificate,
                         MakeCaCertificate(*key, absl::StrCat(coordinator_name, kCommonNameSuffix),
                                           now - kBackdating, now + kCaLifetime));
  ASSAY_ASSIGN_OR_RETURN(std::string pem, tls::CertificateToPem(*certificate));
  ASSAY_RETURN_IF_ERROR(files::WriteAtomically(KeyPath(directory), key_pem, 0600));
  return files::WriteAtomically(CertificatePath(directory), pem, 0644);
}

absl::StatusOr<std::unique_ptr<Authority>> Authority::Load(const std::string& directory) {
  ASSAY_ASSIGN_OR_RETURN(std::string pem, files::Read(CertificatePath(directory)));
  ASSAY_ASSIGN_OR_RETURN(std::string key_pem, files::Read(KeyPath(directory)));
  absl::StatusOr<std::vector<tls::CertificatePtr>> certificates = tls::ParseCertificates(pem);
  if (!certificates.ok()) return BadCa(directory, certificates.status().message());
  absl::StatusOr<tls::KeyPtr> key = tls::ParseKey(key_pem);
  if (!key.ok()) return BadCa(directory, key.status().message());
  tls::CertificatePtr ca = std::move(certificates->front());
  std::string common_name = CommonNameOf(*ca);
  absl::string_view name = common_name;
  const bool matches = X509_check_private_key(ca.get(), key->get()) == 1;
  const bool may_sign = X509_check_ca(ca.get()) == 1;
  if (!matches) {
    return BadCa(directory, absl::StrCat("ca.key and ca.pem differ: ", tls::TakeOpenSslError()));
  }
  if (!may_sign || !absl::ConsumeSuffix(&name, kCommonNameSuffix) || !IsCoordinatorName(name)) {
    return BadCa(directory, "ca.pem is not a certificate authority that this program made");
  }
  ASSAY_ASSIGN_OR_RETURN(absl::Time not_before, tls::FromAsn1(X509_get0_notBefore(ca.get())));
  ASSAY_ASSIGN_OR_RETURN(absl::Time not_after, tls::FromAsn1(X509_get0_notAfter(ca.get())));
  ASSAY_ASSIGN_OR_RETURN(std::string clean_pem, tls::CertificateToPem(*ca));
  return std::make_unique<OpenSslAuthority>(std::string(name), std::move(clean_pem),
                                            *std::move(key), std::move(ca), not_before, not_after);
}

}  // namespace assay::pki
