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

// A run's length where the plan names none, and the most it may name.
constexpr absl::Duration kDefaultRunLength = absl::Hours(7 * 24);
constexpr absl::Duration kLongestRun = absl::Hours(366 * 24);

// The plan's length, or the default. INVALID_ARGUMENT unless positive and at most kLongestRun.
absl::StatusOr<absl::Duration> RunLength(const v1::Plan& plan);

// The zone a window is read in. INVALID_ARGUMENT where neither names one or it is unknown (UTC is
// never silently assumed). Relative windows without a zone use UTC.
absl::StatusOr<absl::TimeZone> ZoneOf(const v1::Window& window, const v1::Plan& plan);

// The occurrences of a window of `plan` that start within [run_start, run_start + plan.length), in
// order and disjoint; one that is already open at run_start is cut to begin there and keeps its
// day. `run_start` is finite.
//
// - Civil times that do not exist (spring forward) stand for the transition; repeated ones (fall
//   back) for the first of the two. An interval of which nothing exists is left out.
// - A relative window is used whatever its start, unless the plan names a length that it starts
//   after: a plan of relative windows alone needs no length.
// - Intervals of one window that overlap are refused (a minute would count twice), as are bad
// times,
//   dates and zones, and a window that is both civil and relative or neither: INVALID_ARGUMENT.
absl::StatusOr<std::vector<Occurrence>> Expand(const v1::Window& window, const v1::Plan& plan,
                                               absl::Time run_start);

}  // namespace assay::window

#endif  // ASSAY_CORE_WINDOW_WINDOW_H_
