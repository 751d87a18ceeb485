// The wall clock, handed in so that tests can turn it.
#ifndef ASSAY_COMMON_CLOCK_CLOCK_H_
#define ASSAY_COMMON_CLOCK_CLOCK_H_

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace assay {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const = 0;
};

class SystemClock : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
};

}  // namespace assay

#endif  // ASSAY_COMMON_CLOCK_CLOCK_H_
