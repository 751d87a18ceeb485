// How many more runs an undecided figure needs.
#ifndef ASSAY_CORE_STATISTICS_RUNS_TO_DECIDE_H_
#define ASSAY_CORE_STATISTICS_RUNS_TO_DECIDE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace assay::statistics {

// No plan repeats a probe more often than this.
inline constexpr uint32_t kMostRuns = 100'000;

// The smallest number in [1, kMostRuns] of further runs for which `decided` holds; 0 where none is
// found, such as for an estimate that equals its threshold. `decided` is asked for the doubling
// numbers 1, 2, 4, ... and then by bisection: once true it is taken to stay true.
uint32_t RunsToDecide(absl::FunctionRef<bool(uint32_t more)> decided);

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_RUNS_TO_DECIDE_H_
