#include "agent/probe/route/clock_bridge.h"

#include <cstdlib>

namespace assay::agent::route {
namespace {

// A change below this, beyond what the readings leave open, is taken for noise.
constexpr int64_t kToleranceNs = 2'000;

}  // namespace

void ClockBridge::OnReading(int64_t monotonic_before_ns, int64_t realtime_ns,
                            int64_t monotonic_after_ns) {
  int64_t half_ns = (monotonic_after_ns - monotonic_before_ns) / 2;
  int64_t offset_ns = realtime_ns - (monotonic_before_ns + half_ns);
  bool consistent =
      held_ && std::abs(offset_ns - offset_ns_) <= uncertainty_ns_ + half_ns + kToleranceNs;
  if (!consistent) {
    if (held_) ++steps_;
    held_ = true;
    offset_ns_ = offset_ns;
    uncertainty_ns_ = half_ns;
    stable_since_ns_ = monotonic_before_ns;
  }
  last_reading_ns_ = monotonic_after_ns;
}

std::optional<int64_t> ClockBridge::ToMonotonic(int64_t realtime_ns) const {
  int64_t monotonic_ns = realtime_ns - offset_ns_;
  int64_t slack_ns = uncertainty_ns_ + kToleranceNs;
  bool trusted =
      held_ && monotonic_ns >= stable_since_ns_ && monotonic_ns <= last_reading_ns_ + slack_ns;
  if (!trusted) return std::nullopt;
  return monotonic_ns;
}

}  // namespace assay::agent::route
