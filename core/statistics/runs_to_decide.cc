#include "core/statistics/runs_to_decide.h"

#include <algorithm>

namespace assay::statistics {

uint32_t RunsToDecide(absl::FunctionRef<bool(uint32_t more)> decided) {
  uint32_t undecided = 0;
  uint32_t enough = 1;
  while (!decided(enough)) {
    if (enough == kMostRuns) return 0;
    undecided = enough;
    enough = std::min(2 * enough, kMostRuns);
  }
  while (enough - undecided > 1) {
    const uint32_t middle = undecided + (enough - undecided) / 2;
    (decided(middle) ? enough : undecided) = middle;
  }
  return enough;
}

}  // namespace assay::statistics
