// What the coordinator remembers. SQLite stands behind this interface (sqlite_store.h); nothing
// above it knows SQL.
//
// Thread-safe. Functions that change something return after the change is durable (the *Async ones
// call back after it is), and changes that arrive together share one commit. An error means that
// nothing of that call was stored. Codes: NOT_FOUND, ALREADY_EXISTS, ABORTED (a transition came too
// late), FAILED_PRECONDITION (token used, expired; agent superseded), RESOURCE_EXHAUSTED (disk
// full, queue full), UNAVAILABLE (locked, read-only, I/O error), DATA_LOSS (corrupt). After an
// error of the disk the store goes on working as soon as the disk does.
#ifndef ASSAY_SERVER_STORE_STORE_H_
#define ASSAY_SERVER_STORE_STORE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "assay/v1/control.pb.h"
#include "server/store/records.h"

namespace assay::store {

class Store {
 public:
  virtual ~Store() = default;

  // -- documents (kind: "server", "vantage", "profile", "plan")
  // Replaces those of the same kind and name. All or none.
  virtual absl::Status PutDocuments(const std::vector<v1::Document>& documents) = 0;
  virtual absl::StatusOr<v1::Document> GetDocument(absl::string_view kind,
                                                   absl::string_view name) = 0;
  // By name.
  virtual absl::StatusOr<std::vector<v1::Document>> ListDocuments(absl::string_view kind) = 0;

  // -- identities
  virtual absl::Status PutToken(const TokenRecord& token) = 0;
  // Marks the token used and records what came of it, in one transaction. The certificate's subject
  // is the token's; for an agent, earlier agents of the same subject are superseded and their
  // certificates revoked. `make` issues the certificate for the subject: it is called inside the
  // transaction, and its error undoes everything. FAILED_PRECONDITION where the token is used or
  // expired (at `now`), NOT_FOUND where it is unknown: messages identity.token_*.
  virtual absl::Status RedeemToken(
      absl::string_view token_sha256, absl::Time now,
      const std::function<absl::StatusOr<CertificateRecord>(const Subject&)>& make) = 0;
  // A person's, or a renewal for an agent: NOT_FOUND where the agent is unknown,
  // FAILED_PRECONDITION where it was superseded or revoked in the meantime, ALREADY_EXISTS for a
  // serial that is there.
  virtual absl::Status PutCertificate(const CertificateRecord& certificate) = 0;
  virtual absl::StatusOr<CertificateRecord> GetCertificate(absl::string_view serial) = 0;
  // All of them, for the cache of who may enter.
  virtual absl::StatusOr<std::vector<CertificateRecord>> ListCertificates() = 0;
  // Revokes all valid certificates of a subject; marks its agents superseded. How many (expired
  // ones are marked too, but not counted).
  virtual absl::StatusOr<uint32_t> Revoke(v1::SubjectKind kind, absl::string_view name,
                                          absl::string_view reason, absl::Time now) = 0;

  // -- agents
  virtual absl::StatusOr<std::vector<AgentRecord>> ListAgents() = 0;
  virtual absl::Status UpdateAgent(absl::string_view agent_id, absl::Time last_seen_at,
                                   absl::string_view peer,
                                   const std::optional<v1::Hello>& hello) = 0;

  // -- runs and tasks
  virtual absl::Status InsertRun(const RunRecord& run, const std::vector<TaskRecord>& tasks) = 0;
  virtual absl::StatusOr<RunRecord> GetRun(absl::string_view id) = 0;
  // Newest first. `plan` empty: all.
  virtual absl::StatusOr<std::vector<RunRecord>> ListRuns(absl::string_view plan,
                                                          uint32_t limit) = 0;
  virtual absl::StatusOr<std::vector<RunRecord>> ListActiveRuns() = 0;
  // The newest run whose plan has the server. NOT_FOUND: none.
  virtual absl::StatusOr<RunRecord> NewestRunOf(absl::string_view server) = 0;
  // An active run ends; again with the same state changes nothing. ABORTED: it ended otherwise.
  virtual absl::Status EndRun(absl::string_view id, v1::RunState state, absl::Time ended_at) = 0;
  // By index.
  virtual absl::StatusOr<std::vector<TaskRecord>> ListTasks(absl::string_view run) = 0;
  // `server` empty: all.
  virtual absl::StatusOr<v1::TaskCounts> CountTasks(absl::string_view run,
                                                    absl::string_view server) = 0;
  // All or none.
  virtual absl::Status TransitionTasks(const std::vector<TaskTransition>& transitions) = 0;

  // -- results
  using AppendCallback = std::function<void(absl::StatusOr<AppendResult>)>;
  // Stores the result and ends its task in one transaction. The callback comes from the store's
  // thread after the commit and must be quick; it may call no blocking function of the store.
  // RESOURCE_EXHAUSTED at once (in the caller's thread) when too much is queued; functions that
  // block are never refused for that. The task goes from leased, or pending (its lease was given
  // back while the agent kept the result), to done or failed by the result's outcome.
  virtual void AppendResultAsync(NewResult result, AppendCallback done) = 0;
  // Newest first. Evidence is in result.evidence_zstd, as it came, where the filter wants it.
  virtual absl::StatusOr<std::vector<v1::StoredResult>> ListResults(const ResultFilter& filter) = 0;
  // With evidence, still compressed, in result.evidence_zstd.
  virtual absl::StatusOr<v1::StoredResult> GetResult(int64_t id) = 0;

  // -- verdicts
  // Takes the place of the newest verdict on that server and run where its digest is the same.
  virtual absl::Status PutVerdict(const v1::Verdict& verdict) = 0;
  // Newest first.
  virtual absl::StatusOr<std::vector<v1::Verdict>> ListVerdicts(absl::string_view server,
                                                                uint32_t limit) = 0;
};

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_STORE_H_
