// Rows of the store, as plain values.
#ifndef ASSAY_SERVER_STORE_RECORDS_H_
#define ASSAY_SERVER_STORE_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "assay/v1/control.pb.h"
#include "assay/v1/model.pb.h"
#include "assay/v1/result.pb.h"

namespace assay::store {

// Who a certificate or token is for.
struct Subject {
  v1::SubjectKind kind = v1::SUBJECT_KIND_UNSPECIFIED;
  std::string name;
  v1::Role role = v1::ROLE_UNSPECIFIED;  // people only
};

struct TokenRecord {
  std::string token_sha256;  // hex; the token itself is never stored
  Subject subject;
  absl::Time expires_at;
  std::string created_by;
  absl::Time created_at;
};

struct CertificateRecord {
  std::string serial;  // hex, lower case
  Subject subject;
  std::string agent_id;  // empty for people
  absl::Time not_before;
  absl::Time not_after;
  std::optional<absl::Time> revoked_at;
  std::string revoked_reason;
};

struct AgentRecord {
  std::string agent_id;
  Subject subject;
  absl::Time enrolled_at;
  std::optional<absl::Time> last_seen_at;
  std::string peer;
  v1::Hello hello;          // the last one; its clock field is kept up to date
  bool superseded = false;  // a newer agent was enrolled for the subject, or it was revoked
};

struct RunRecord {
  std::string id;
  v1::Plan plan;  // frozen
  std::vector<v1::Server> servers;
  std::vector<v1::Vantage> vantages;
  std::vector<v1::Criterion> criteria;  // profile and plan merged
  uint64_t seed = 0;
  std::string started_by;
  v1::RunState state = v1::RUN_STATE_ACTIVE;
  absl::Time started_at;
  std::optional<absl::Time> ended_at;
  absl::Time planned_end_at;
};

struct TaskRecord {
  std::string run;
  uint32_t index = 0;
  std::string server;
  std::string vantage;
  std::string probe;
  std::string window;
  absl::CivilDay day;
  absl::Time due;
  absl::Time window_end;
  absl::Duration time_limit;
  v1::TaskState state = v1::TASK_STATE_PENDING;
  uint32_t attempt = 0;  // of the newest lease; 0: never leased
  std::string agent_id;  // that holds or held the newest lease
  v1::Message reason;    // failed, missed, cancelled
  int64_t result_id = 0;
};

// A change of one task. Applied only if the task is still in `from` at `from_attempt`; otherwise
// the whole batch is refused (ABORTED).
struct TaskTransition {
  std::string run;
  uint32_t index = 0;
  v1::TaskState from = v1::TASK_STATE_UNSPECIFIED;
  uint32_t from_attempt = 0;
  v1::TaskState to = v1::TASK_STATE_UNSPECIFIED;
  uint32_t attempt = 0;
  std::string agent_id;
  v1::Message reason;
};

// A result to be stored, with its metrics already derived.
struct NewResult {
  v1::TaskRef ref;
  std::string agent_id;
  absl::Time received_at;
  v1::Result result;
  std::vector<v1::Metric> metrics;
  std::string evidence_sha256;
};

enum class AppendOutcome {
  kStored,     // the task is done (or failed) now
  kDuplicate,  // the task already has its result; nothing was stored
  kNotWanted,  // unknown run or task, or cancelled or missed in the meantime; nothing was stored
};

struct AppendResult {
  AppendOutcome outcome = AppendOutcome::kNotWanted;
  int64_t result_id = 0;  // of the stored result, also for kDuplicate
};

struct ResultFilter {
  std::string run;      // empty: any
  std::string server;   // empty: any
  std::string vantage;  // empty: any
  int64_t before_id = 0;
  uint32_t limit = 100;
  bool with_evidence = false;
};

}  // namespace assay::store

#endif  // ASSAY_SERVER_STORE_RECORDS_H_
