// Waits between attempts to connect: exponential with full jitter, so that agents that lost the
// same coordinator do not come back together.
#ifndef ASSAY_AGENT_SESSION_BACKOFF_H_
#define ASSAY_AGENT_SESSION_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"

namespace assay::session {

class Backoff {
 public:
  // `random`: uniform in [0, 1). Uniform between nothing and a bound that doubles with every call,
  // from 0.5 s to 30 s.
  absl::Duration Next(double random) {
    absl::Duration wait = bound_ * random;
    bound_ = std::min(bound_ * 2, absl::Seconds(30));
    return wait;
  }
  void Reset() { bound_ = absl::Milliseconds(500); }

 private:
  absl::Duration bound_ = absl::Milliseconds(500);
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_BACKOFF_H_
