// Decides criteria by confidence intervals and servers by their criteria. Pure and deterministic:
// the same input gives the same bytes.
//
// A criterion looks at the results of its scope in groups (by default each vantage in each window)
// and is as good as its worst group: fail before inconclusive before pass.
// - The groups are those that the plan promises (groups.h): a vantage, window or probe without a
//   usable result is an inconclusive group or keeps its group from passing.
// - A group passes when the whole interval of its clean results meets the threshold and samples,
//   days and everything promised are there. It fails when the whole interval violates the threshold
//   and there are enough samples and days. A single result decides neither way.
// - Marked figures never help to pass. Those that are only MARK_CACHED, which flatters, may still
//   help to fail; any other mark counts for neither.
// - Results that are not OUTCOME_OK carry no figure; they are counted, with the first reason.
//
// A server is rejected when a `must` fails, accepted when every `must` passes, no task of it is
// open and every route that a `must` judges (a vantage, or the server itself) was measured in a
// PEAK window; otherwise it is inconclusive. Criteria stand as decided while tasks are open, and
// the verdict says that it is preliminary.
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

// Order of observations does not matter; result ids are unique. INVALID_ARGUMENT for a criterion
// that names an unknown metric or an impossible statistic, threshold, grouping or confidence, and
// for a window without a time zone (documents are checked earlier). evaluated_at is left to the
// caller. Figures are rounded to 12 significant digits before they decide, so that what is stored
// is what decided, on every processor.
absl::StatusOr<v1::Verdict> Evaluate(const VerdictInput& input);

// SHA-256 in hex over the canonical form: docs/decisions/0006-verdict-digest.md.
std::string Digest(const v1::Verdict& verdict, const VerdictInput& input);

// A criterion's defaults filled in from the catalogue (statistic, comparison, confidence, per,
// severity, minimum days). INVALID_ARGUMENT as Evaluate.
absl::StatusOr<v1::Criterion> WithDefaults(const v1::Criterion& criterion);

// The profile's criteria with the plan's after them; a plan's criterion replaces the profile's of
// the same id, in its place.
std::vector<v1::Criterion> MergeCriteria(const v1::Profile& profile, const v1::Plan& plan);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_EVALUATE_H_
