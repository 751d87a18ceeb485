#include "server/store/identities.h"

#include <string>
#include <utility>

#include "common/base/message.h"

namespace assay::store::identities {
namespace {

constexpr char kInsertCertificate[] =
    "INSERT INTO certificates (serial, subject_kind, subject_name, role, agent_id, not_before_us, "
    "not_after_us, revoked_at_us, revoked_reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
constexpr char kCertificateBySerial[] =
    "SELECT serial, subject_kind, subject_name, role, agent_id, not_before_us, not_after_us, "
    "revoked_at_us, revoked_reason FROM certificates WHERE serial = ?1";
constexpr char kAllCertificates[] =
    "SELECT serial, subject_kind, subject_name, role, agent_id, not_before_us, not_after_us, "
    "revoked_at_us, revoked_reason FROM certificates ORDER BY serial";

Subject TakeSubject(Statement& row) {
  Subject subject;
  subject.kind = row.TakeEnum<v1::SubjectKind>();
  subject.name = row.TakeText();
  subject.role = row.TakeEnum<v1::Role>();
  return subject;
}

CertificateRecord TakeCertificate(Statement& row) {
  CertificateRecord certificate;
  certificate.serial = row.TakeText();
  certificate.subject = TakeSubject(row);
  certificate.agent_id = row.TakeText();  // NULL reads as ""
  certificate.not_before = row.TakeTime();
  certificate.not_after = row.TakeTime();
  certificate.revoked_at = row.TakeOptionalTime();
  certificate.revoked_reason = row.TakeText();
  return certificate;
}

absl::Status InsertCertificate(Connection& db, const CertificateRecord& certificate) {
  std::optional<absl::string_view> agent_id;
  if (!certificate.agent_id.empty()) agent_id = certificate.agent_id;
  absl::Status inserted =
      db.Run(kInsertCertificate, certificate.serial, certificate.subject.kind,
             certificate.subject.name, certificate.subject.role, agent_id, certificate.not_before,
             certificate.not_after, certificate.revoked_at, certificate.revoked_reason);
  if (!absl::IsAlreadyExists(inserted)) return inserted;
  return Error(absl::StatusCode::kAlreadyExists, "store.certificate_exists",
               {{"serial", certificate.serial}});
}

absl::Status UnknownAgent(absl::string_view agent_id) {
  return Error(absl::StatusCode::kNotFound, "store.unknown_agent",
               {{"agent", std::string(agent_id)}});
}

// What of a token decides whether it is good; the subject where it is.
absl::StatusOr<Subject> CheckToken(Connection& db, absl::string_view token_sha256, absl::Time now) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement token,
      db.Query("SELECT subject_kind, subject_name, role, expires_at_us, used_at_us FROM tokens "
               "WHERE token_sha256 = ?1",
               token_sha256));
  ASSAY_ASSIGN_OR_RETURN(bool row, token.Next());
  if (!row) return Error(absl::StatusCode::kNotFound, "identity.token_unknown");
  Subject subject = TakeSubject(token);
  absl::Time expires_at = token.TakeTime();
  std::optional<absl::Time> used_at = token.TakeOptionalTime();
  MessageArgs args = {
      {"subject", subject.name},
      {"expired", absl::FormatTime(absl::RFC3339_sec, expires_at, absl::UTCTimeZone())}};
  if (used_at.has_value()) {
    return Error(absl::StatusCode::kFailedPrecondition, "identity.token_used", args);
  }
  if (expires_at <= now) {
    return Error(absl::StatusCode::kFailedPrecondition, "identity.token_expired", args);
  }
  return subject;
}

// How many certificates that were valid until now were revoked. Expired ones are marked as well:
// the clock may be set back.
absl::StatusOr<uint32_t> RevokeCertificates(Connection& db, v1::SubjectKind kind,
                                            absl::string_view name, absl::string_view reason,
                                            absl::Time now) {
  ASSAY_RETURN_IF_ERROR(
      db.Run("UPDATE certificates SET revoked_at_us = ?3, revoked_reason = ?4 WHERE subject_kind = "
             "?1 AND subject_name = ?2 AND revoked_at_us IS NULL AND not_after_us > ?3",
             kind, name, now, reason));
  uint32_t revoked = static_cast<uint32_t>(db.changes());
  ASSAY_RETURN_IF_ERROR(
      db.Run("UPDATE certificates SET revoked_at_us = ?3, revoked_reason = ?4 WHERE subject_kind = "
             "?1 AND subject_name = ?2 AND revoked_at_us IS NULL",
             kind, name, now, reason));
  return revoked;
}

absl::Status Supersede(Connection& db, v1::SubjectKind kind, absl::string_view name) {
  return db.Run(
      "UPDATE agents SET superseded = 1 WHERE subject_kind = ?1 AND subject_name = ?2 AND "
      "superseded = 0",
      kind, name);
}

absl::Status EnrolAgent(Connection& db, const CertificateRecord& certificate, absl::Time now) {
  const Subject& subject = certificate.subject;
  if (certificate.agent_id.empty()) return absl::InternalError("an agent without an id");
  ASSAY_RETURN_IF_ERROR(Supersede(db, subject.kind, subject.name));
  ASSAY_RETURN_IF_ERROR(
      RevokeCertificates(db, subject.kind, subject.name, "superseded", now).status());
  absl::Status inserted = db.Run(
      "INSERT INTO agents (agent_id, subject_kind, subject_name, enrolled_at_us, last_seen_at_us, "
      "peer, hello, superseded) VALUES (?1, ?2, ?3, ?4, NULL, '', ?5, 0)",
      certificate.agent_id, subject.kind, subject.name, now, Blob{});
  if (!absl::IsAlreadyExists(inserted)) return inserted;
  return Error(absl::StatusCode::kAlreadyExists, "store.agent_exists",
               {{"agent", certificate.agent_id}});
}

}  // namespace

absl::Status PutToken(Connection& db, const TokenRecord& token) {
  absl::Status inserted = db.Run(
      "INSERT INTO tokens (token_sha256, subject_kind, subject_name, role, expires_at_us, "
      "created_by, created_at_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      token.token_sha256, token.subject.kind, token.subject.name, token.subject.role,
      token.expires_at, token.created_by, token.created_at);
  if (!absl::IsAlreadyExists(inserted)) return inserted;
  return Error(absl::StatusCode::kAlreadyExists, "store.token_exists");
}

absl::Status RedeemToken(
    Connection& db, absl::string_view token_sha256, absl::Time now,
    const std::function<absl::StatusOr<CertificateRecord>(const Subject&)>& make) {
  ASSAY_ASSIGN_OR_RETURN(Subject subject, CheckToken(db, token_sha256, now));
  ASSAY_ASSIGN_OR_RETURN(CertificateRecord certificate, make(subject));
  certificate.subject = subject;
  if (subject.kind != v1::SUBJECT_KIND_PERSON) {
    ASSAY_RETURN_IF_ERROR(EnrolAgent(db, certificate, now));
  }
  ASSAY_RETURN_IF_ERROR(InsertCertificate(db, certificate));
  return db.Run(
      "UPDATE tokens SET used_at_us = ?2, certificate_serial = ?3 WHERE token_sha256 = ?1",
      token_sha256, now, certificate.serial);
}

absl::Status PutCertificate(Connection& db, const CertificateRecord& certificate) {
  if (!certificate.agent_id.empty()) {
    ASSAY_ASSIGN_OR_RETURN(
        Statement agent,
        db.Query("SELECT superseded FROM agents WHERE agent_id = ?1", certificate.agent_id));
    ASSAY_ASSIGN_OR_RETURN(bool row, agent.Next());
    if (!row) return UnknownAgent(certificate.agent_id);
    // A renewal that overlaps a revocation must not bring the agent back.
    if (agent.TakeInt() != 0) {
      return Error(absl::StatusCode::kFailedPrecondition, "store.agent_superseded",
                   {{"agent", certificate.agent_id}});
    }
  }
  return InsertCertificate(db, certificate);
}

absl::StatusOr<CertificateRecord> GetCertificate(Connection& db, absl::string_view serial) {
  ASSAY_ASSIGN_OR_RETURN(Statement found, db.Query(kCertificateBySerial, serial));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (row) return TakeCertificate(found);
  return Error(absl::StatusCode::kNotFound, "store.unknown_certificate",
               {{"serial", std::string(serial)}});
}

absl::StatusOr<std::vector<CertificateRecord>> ListCertificates(Connection& db) {
  std::vector<CertificateRecord> certificates;
  ASSAY_ASSIGN_OR_RETURN(Statement rows, db.Query(kAllCertificates));
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return certificates;
    certificates.push_back(TakeCertificate(rows));
  }
}

absl::StatusOr<uint32_t> Revoke(Connection& db, v1::SubjectKind kind, absl::string_view name,
                                absl::string_view reason, absl::Time now) {
  ASSAY_RETURN_IF_ERROR(Supersede(db, kind, name));
  return RevokeCertificates(db, kind, name, reason, now);
}

absl::StatusOr<std::vector<AgentRecord>> ListAgents(Connection& db) {
  std::vector<AgentRecord> agents;
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      db.Query("SELECT agent_id, subject_kind, subject_name, enrolled_at_us, last_seen_at_us, "
               "peer, hello, superseded FROM agents "
               "ORDER BY subject_kind, subject_name, superseded, agent_id"));
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return agents;
    AgentRecord& agent = agents.emplace_back();
    agent.agent_id = rows.TakeText();
    agent.subject.kind = rows.TakeEnum<v1::SubjectKind>();
    agent.subject.name = rows.TakeText();
    agent.enrolled_at = rows.TakeTime();
    agent.last_seen_at = rows.TakeOptionalTime();
    agent.peer = rows.TakeText();
    ASSAY_RETURN_IF_ERROR(rows.TakeMessage(agent.hello));
    agent.superseded = rows.TakeInt() != 0;
  }
}

absl::Status UpdateAgent(Connection& db, absl::string_view agent_id, absl::Time last_seen_at,
                         absl::string_view peer, const std::optional<v1::Hello>& hello) {
  ASSAY_RETURN_IF_ERROR(
      hello.has_value()
          ? db.Run("UPDATE agents SET last_seen_at_us = ?2, peer = ?3, hello = ?4 "
                   "WHERE agent_id = ?1",
                   agent_id, last_seen_at, peer, Blob{hello->SerializeAsString()})
          : db.Run("UPDATE agents SET last_seen_at_us = ?2, peer = ?3 WHERE agent_id = ?1",
                   agent_id, last_seen_at, peer));
  return db.changes() == 0 ? UnknownAgent(agent_id) : absl::OkStatus();
}

}  // namespace assay::store::identities
