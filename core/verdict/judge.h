// Decides one criterion: sorts the results of each of its groups into clean, marked and useless
// ones, and the figure of the clean ones into pass, fail or inconclusive.
#ifndef ASSAY_CORE_VERDICT_JUDGE_H_
#define ASSAY_CORE_VERDICT_JUDGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/result.pb.h"
#include "core/verdict/evaluate.h"
#include "core/verdict/groups.h"

namespace assay::verdict {

// The observations of each cell, by result id.
using ObservationIndex = std::map<Cell, std::vector<const Observation*>>;
ObservationIndex IndexObservations(const std::vector<Observation>& observations);

struct CriterionResult {
  v1::CriterionVerdict verdict;
  // Cells whose clean figures were used.
  std::vector<Cell> used;
};

// `criterion` as written, without its defaults.
absl::StatusOr<CriterionResult> JudgeCriterion(const VerdictInput& input,
                                               const ObservationIndex& index,
                                               const v1::Criterion& criterion);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_JUDGE_H_
