// Windows: civil times in a named zone, made into intervals of absolute time.
#ifndef ASSAY_CORE_WINDOW_WINDOW_H_
#define ASSAY_CORE_WINDOW_WINDOW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "assay/v1/model.pb.h"

namespace assay::window {

// One stretch of time in which a window is open: [start, end).
struct Occurrence {
  absl::Time start;
  absl::Time end;
  // Civil day on which it starts, in the window's zone: what `min_days` counts.
  absl::CivilDay day;
};

// The zone a window is read in. INVALID_ARGUMENT where neither names one or it is unknown (UTC is
// never silently assumed). Relative windows without a zone use UTC.
absl::StatusOr<absl::TimeZone> ZoneOf(const v1::Window& window, const v1::Plan& plan);

// The occurrences of a window of `plan` that start within [run_start, run_start + plan.length), in
// order; one that is already open at run_start is cut to begin there. Civil times that do not exist
// (spring forward) begin at the transition; repeated ones (fall back) count from the first.
absl::StatusOr<std::vector<Occurrence>> Expand(const v1::Window& window, const v1::Plan& plan,
                                               absl::Time run_start);

}  // namespace assay::window

#endif  // ASSAY_CORE_WINDOW_WINDOW_H_
