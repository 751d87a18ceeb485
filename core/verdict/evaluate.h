// Decides criteria by confidence intervals and servers by their criteria. Pure and deterministic:
// the same input gives the same bytes.
#ifndef ASSAY_CORE_VERDICT_EVALUATE_H_
#define ASSAY_CORE_VERDICT_EVALUATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "assay/v1/control.pb.h"
#include "assay/v1/model.pb.h"
#include "assay/v1/result.pb.h"

namespace assay::verdict {

// One stored result, as the engine needs it.
struct Observation {
  int64_t result_id = 0;
  std::string vantage;  // empty: measured on the server itself
  std::string window;
  std::string probe;
  absl::CivilDay day;
  absl::Time started_at;  // coordinator's clock
  v1::Outcome outcome = v1::OUTCOME_OK;
  v1::Message reason;  // where outcome is not OK
  std::vector<v1::Metric> metrics;
  std::vector<v1::Mark> marks;
  std::string evidence_sha256;
};

struct VerdictInput {
  std::string run;
  v1::Plan plan;  // as frozen when the run started
  v1::Server server;
  std::vector<v1::Vantage> vantages;    // of the plan
  std::vector<v1::Criterion> criteria;  // profile's, then plan's
  std::vector<Observation> observations;
  v1::TaskCounts tasks;  // of this server
};

// Order of observations does not matter. INVALID_ARGUMENT for a criterion that names an unknown
// metric or an impossible statistic (documents are checked earlier).
absl::StatusOr<v1::Verdict> Evaluate(const VerdictInput& input);

// SHA-256 in hex over the canonical form: see docs/decisions.
std::string Digest(const v1::Verdict& verdict, const VerdictInput& input);

// A criterion's defaults filled in from the catalogue (statistic, comparison, confidence, per,
// severity, minimum days).
absl::StatusOr<v1::Criterion> WithDefaults(const v1::Criterion& criterion);

// The profile's criteria with the plan's after them; a plan's criterion replaces the profile's of
// the same id.
std::vector<v1::Criterion> MergeCriteria(const v1::Profile& profile, const v1::Plan& plan);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_EVALUATE_H_
