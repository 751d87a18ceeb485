// One direction of a link: loss, then the queue in front of the bottleneck, then the delay.
#ifndef ASSAY_TESTS_PATHSIM_PATH_LINK_H_
#define ASSAY_TESTS_PATHSIM_PATH_LINK_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/pathsim/path/chooser.h"
#include "tests/pathsim/path/event.h"
#include "tests/pathsim/path/random.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

class Link {
 public:
  // `settings` must outlive it; `name` names its random numbers.
  Link(const LinkSettings& settings, uint64_t seed, absl::string_view name);

  struct Fate {
    Reason dropped = Reason::kNone;  // kLoss or kQueue
    absl::Duration arrives;          // where it isn't dropped
    bool duplicated = false;         // a copy arrives at the same time
  };
  // A packet of `bytes` bytes is put on it at `time`. Times are those of an order, never earlier
  // than the ones before but for a few microseconds.
  Fate Send(absl::Duration time, uint8_t protocol, size_t bytes);

  const LinkSettings& settings() const { return settings_; }

 private:
  // When the last bit has left the queue; false: no room.
  bool Enqueue(size_t bytes, absl::Duration& time);

  const LinkSettings& settings_;
  std::vector<Chooser> loss_, duplicate_, late_;
  Random jitter_;
  absl::Duration last_arrival_ = -absl::InfiniteDuration();
  std::deque<std::pair<absl::Duration, uint64_t>> queue_;  // when each has left, and its bytes
  uint64_t queued_bytes_ = 0;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_LINK_H_
