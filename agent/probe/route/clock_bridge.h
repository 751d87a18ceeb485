// The kernel stamps packets with the real-time clock, which may be set at any moment; delays need a
// clock that cannot jump. This converts the one into the other and says when it can't.
#ifndef ASSAY_AGENT_PROBE_ROUTE_CLOCK_BRIDGE_H_
#define ASSAY_AGENT_PROBE_ROUTE_CLOCK_BRIDGE_H_

#include <cstdint>
#include <optional>

namespace assay::agent::route {

// The difference of CLOCK_REALTIME and CLOCK_MONOTONIC is constant (both are slewed alike) until
// somebody sets the former, or the host sleeps. So: hold the difference, and read both clocks after
// every batch of stamps and before converting it. If the difference is still the held one, no stamp
// since the reading that established it was taken across a step. If not, take the new one and trust
// only stamps taken after that reading; the rest of the batch has to make do with the agent's
// clock.
//
// Pure: readings are handed in. Nanoseconds throughout.
class ClockBridge {
 public:
  // The real-time clock, read between two readings of the monotonic one.
  void OnReading(int64_t monotonic_before_ns, int64_t realtime_ns, int64_t monotonic_after_ns);

  // The monotonic time at which the real-time clock showed realtime_ns. Nothing if that cannot be
  // trusted. Call after the OnReading that followed the stamp.
  std::optional<int64_t> ToMonotonic(int64_t realtime_ns) const;

  // How often the real-time clock was seen to be set.
  uint64_t steps() const { return steps_; }

 private:
  bool held_ = false;
  int64_t offset_ns_ = 0;        // real-time minus monotonic
  int64_t uncertainty_ns_ = 0;   // of offset_ns_
  int64_t stable_since_ns_ = 0;  // monotonic: no step since
  int64_t last_reading_ns_ = 0;  // monotonic
  uint64_t steps_ = 0;
};

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_CLOCK_BRIDGE_H_
