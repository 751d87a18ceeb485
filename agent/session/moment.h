// "Now", by both clocks of this host.
#ifndef ASSAY_AGENT_SESSION_MOMENT_H_
#define ASSAY_AGENT_SESSION_MOMENT_H_

#include "absl/time/time.h"

namespace assay::session {

struct Moment {
  absl::Time wall;        // may be set, and jump
  absl::Duration steady;  // never jumps; counts from an arbitrary point

  // The wall clock seen from the steady one: constant unless the wall clock is set (or slewed).
  absl::Time Epoch() const { return wall - steady; }
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_MOMENT_H_
