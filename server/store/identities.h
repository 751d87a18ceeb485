// Tables tokens, certificates and agents: who may enter. Meanings and errors as in store.h.
#ifndef ASSAY_SERVER_STORE_IDENTITIES_H_
#define ASSAY_SERVER_STORE_IDENTITIES_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/store/connection.h"
#include "server/store/records.h"

namespace assay::store::identities {

absl::Status PutToken(Connection& db, const TokenRecord& token);
absl::Status RedeemToken(
    Connection& db, absl::string_view token_sha256, absl::Time now,
    const std::function<absl::StatusOr<CertificateRecord>(const Subject&)>& make);

absl::Status PutCertificate(Connection& db, const CertificateRecord& certificate);
absl::StatusOr<CertificateRecord> GetCertificate(Connection& db, absl::string_view serial);
absl::StatusOr<std::vector<CertificateRecord>> ListCertificates(Connection& db);
absl::StatusOr<uint32_t> Revoke(Connection& db, v1::SubjectKind kind, absl::string_view name,
                                absl::string_view reason, absl::Time now);

absl::StatusOr<std::vector<AgentRecord>> ListAgents(Connection& db);
absl::Status UpdateAgent(Connection& db, absl::string_view agent_id, absl::Time last_seen_at,
                         absl::string_view peer, const std::optional<v1::Hello>& hello);

}  // namespace assay::store::identities

#endif  // ASSAY_SERVER_STORE_IDENTITIES_H_
