#include "server/dispatch/access.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/names.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"

namespace assay::dispatch {
namespace {

constexpr absl::Duration kDefaultTokenValidity = absl::Hours(24);
constexpr absl::Duration kLongestTokenValidity = absl::Hours(24 * 30);

bool SameSubject(const store::Subject& a, const store::Subject& b) {
  return a.kind == b.kind && a.name == b.name;
}

std::string KindOption(v1::SubjectKind kind) {
  switch (kind) {
    case v1::SUBJECT_KIND_SERVER:
      return "server";
    case v1::SUBJECT_KIND_VANTAGE:
      return "vantage";
    default:
      return "person";
  }
}

}  // namespace

std::string RoleName(v1::Role role) {
  return absl::AsciiStrToLower(absl::string_view(v1::Role_Name(role)).substr(sizeof("ROLE_") - 1));
}

absl::StatusOr<std::unique_ptr<Access>> Access::Create(AccessOptions options) {
  std::unique_ptr<Access> access(new Access(std::move(options)));
  ASSAY_RETURN_IF_ERROR(access->Reload());
  return access;
}

absl::Status Access::Reload() {
  ASSAY_ASSIGN_OR_RETURN(std::vector<store::CertificateRecord> records,
                         options_.store->ListCertificates());
  std::lock_guard<std::mutex> lock(mutex_);
  certificates_.clear();
  for (store::CertificateRecord& record : records) {
    certificates_.emplace(record.serial, std::move(record));
  }
  return absl::OkStatus();
}

void Access::Remember(const store::CertificateRecord& record, bool supersedes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (supersedes) {
    for (auto& [serial, other] : certificates_) {
      if (!SameSubject(other.subject, record.subject) || other.revoked_at.has_value()) continue;
      other.revoked_at = options_.clock->Now();
      other.revoked_reason = "superseded";
    }
  }
  certificates_[record.serial] = record;
}

absl::StatusOr<store::CertificateRecord> Access::Identify(absl::string_view serial) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = certificates_.find(serial);
  if (found == certificates_.end()) {
    return Error(absl::StatusCode::kUnauthenticated, "identity.certificate_unknown");
  }
  const store::CertificateRecord& record = found->second;
  if (record.revoked_at.has_value()) {
    return Error(absl::StatusCode::kUnauthenticated, "identity.certificate_revoked",
                 {{"subject", record.subject.name}, {"reason", record.revoked_reason}});
  }
  if (record.not_after <= options_.clock->Now()) {
    return Error(absl::StatusCode::kUnauthenticated, "identity.certificate_expired");
  }
  return record;
}

absl::Status Access::RequireRole(const store::CertificateRecord& caller, v1::Role needed) {
  if (caller.subject.kind != v1::SUBJECT_KIND_PERSON) {
    return Error(absl::StatusCode::kPermissionDenied, "identity.people_only",
                 {{"subject", caller.subject.name}});
  }
  if (caller.subject.role >= needed && caller.subject.role <= v1::ROLE_ADMIN) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kPermissionDenied, "identity.role_too_low",
               {{"person", caller.subject.name},
                {"role", RoleName(caller.subject.role)},
                {"needed", RoleName(needed)}});
}

absl::StatusOr<v1::CreateTokenResponse> Access::CreateToken(
    const v1::CreateTokenRequest& request, const store::CertificateRecord& caller) {
  bool person = request.subject_kind() == v1::SUBJECT_KIND_PERSON;
  ASSAY_RETURN_IF_ERROR(RequireRole(caller, person ? v1::ROLE_ADMIN : v1::ROLE_OPERATOR));
  if (!IsValidName(request.subject())) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_name",
                 {{"name", request.subject()}});
  }
  if (request.subject_kind() < v1::SUBJECT_KIND_SERVER ||
      request.subject_kind() > v1::SUBJECT_KIND_PERSON ||
      (person && (request.role() < v1::ROLE_VIEWER || request.role() > v1::ROLE_ADMIN))) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_token_request");
  }
  absl::Duration validity =
      request.has_validity() ? FromProto(request.validity()) : kDefaultTokenValidity;
  if (validity <= absl::ZeroDuration() || validity > kLongestTokenValidity) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_token_validity",
                 {{"validity", absl::FormatDuration(validity)}});
  }
  std::string token = pki::NewToken();
  store::TokenRecord record;
  record.token_sha256 = pki::HashToken(token);
  record.subject = {request.subject_kind(), request.subject(),
                    person ? request.role() : v1::ROLE_UNSPECIFIED};
  record.created_at = options_.clock->Now();
  record.expires_at = record.created_at + validity;
  record.created_by = caller.subject.name;
  ASSAY_RETURN_IF_ERROR(options_.store->PutToken(record));

  v1::CreateTokenResponse response;
  response.set_token(token);
  *response.mutable_expires_at() = ToProto(record.expires_at);
  response.set_ca_fingerprint(options_.authority->ca_fingerprint());
  response.set_coordinator_address(options_.advertised_address);
  response.set_join_command(absl::StrCat(person ? "assay" : "assay-agent", " join ",
                                         options_.advertised_address, " --token ", token,
                                         " --ca-fingerprint ", response.ca_fingerprint()));
  return response;
}

absl::StatusOr<v1::EnrolResponse> Access::Enrol(const v1::EnrolRequest& request) {
  v1::EnrolResponse response;
  std::optional<store::CertificateRecord> issued;
  absl::Time now = options_.clock->Now();
  auto make = [&](const store::Subject& subject) -> absl::StatusOr<store::CertificateRecord> {
    bool person = subject.kind == v1::SUBJECT_KIND_PERSON;
    std::string agent_id = person ? "" : pki::NewAgentId();
    ASSAY_ASSIGN_OR_RETURN(
        pki::IssuedCertificate certificate,
        options_.authority->Issue(request.csr_der(), subject, agent_id, now,
                                  person ? options_.person_lifetime : options_.agent_lifetime));
    response.set_certificate_chain_pem(certificate.chain_pem);
    response.set_subject_kind(subject.kind);
    response.set_subject(subject.name);
    response.set_role(subject.role);
    response.set_agent_id(agent_id);
    issued = certificate.record;
    return certificate.record;
  };
  ASSAY_RETURN_IF_ERROR(options_.store->RedeemToken(pki::HashToken(request.token()), now, make));
  Remember(*issued, issued->subject.kind != v1::SUBJECT_KIND_PERSON);
  return response;
}

absl::StatusOr<v1::EnrolResponse> Access::EnrolFirstAdmin(absl::string_view csr_der,
                                                          absl::string_view name) {
  store::Subject subject{v1::SUBJECT_KIND_PERSON, std::string(name), v1::ROLE_ADMIN};
  ASSAY_ASSIGN_OR_RETURN(pki::IssuedCertificate certificate,
                         options_.authority->Issue(csr_der, subject, "", options_.clock->Now(),
                                                   options_.person_lifetime));
  ASSAY_RETURN_IF_ERROR(options_.store->PutCertificate(certificate.record));
  Remember(certificate.record, false);
  v1::EnrolResponse response;
  response.set_certificate_chain_pem(certificate.chain_pem);
  response.set_subject_kind(subject.kind);
  response.set_subject(subject.name);
  response.set_role(subject.role);
  return response;
}

absl::StatusOr<v1::RenewResponse> Access::Renew(const store::CertificateRecord& caller,
                                                absl::string_view csr_der) {
  bool person = caller.subject.kind == v1::SUBJECT_KIND_PERSON;
  ASSAY_ASSIGN_OR_RETURN(
      pki::IssuedCertificate certificate,
      options_.authority->Issue(csr_der, caller.subject, caller.agent_id, options_.clock->Now(),
                                person ? options_.person_lifetime : options_.agent_lifetime));
  ASSAY_RETURN_IF_ERROR(options_.store->PutCertificate(certificate.record));
  Remember(certificate.record, false);
  v1::RenewResponse response;
  response.set_certificate_chain_pem(certificate.chain_pem);
  return response;
}

absl::StatusOr<uint32_t> Access::Revoke(const store::Subject& subject, absl::string_view reason) {
  absl::Time now = options_.clock->Now();
  ASSAY_ASSIGN_OR_RETURN(uint32_t count,
                         options_.store->Revoke(subject.kind, subject.name, reason, now));
  if (count == 0) {
    return Error(absl::StatusCode::kNotFound, "identity.nothing_to_revoke",
                 {{"kind", KindOption(subject.kind)}, {"name", subject.name}});
  }
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [serial, record] : certificates_) {
    if (!SameSubject(record.subject, subject) || record.revoked_at.has_value()) continue;
    record.revoked_at = now;
    record.revoked_reason = std::string(reason);
  }
  return count;
}

}  // namespace assay::dispatch
