// How far this host's clock is from the coordinator's, from exchanges with four time stamps.
#ifndef ASSAY_AGENT_SESSION_CLOCK_FILTER_H_
#define ASSAY_AGENT_SESSION_CLOCK_FILTER_H_

#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "agent/session/moment.h"
#include "assay/v1/result.pb.h"

namespace assay::session {

// Keeps the last eight exchanges and believes the one with the tightest bound: its round trip is
// shortest. The offset lies within half the round trip (RFC 5905, section 8), plus what two clocks
// can drift apart since (50 ppm, a poor crystal). Our side is stamped by the steady clock, so a
// wall clock that is set shows in the estimate at once, and never spoils a sample.
class ClockFilter {
 public:
  // `sent` and `received`: when the request left and its answer came. `peer_received` and
  // `peer_sent`: the coordinator's wall clock in between. Exchanges that cannot be are ignored.
  void Add(const Moment& sent, absl::Time peer_received, absl::Time peer_sent,
           const Moment& received);
  // Agent's wall clock minus coordinator's, at `now`. nullopt before the first exchange.
  std::optional<v1::ClockEstimate> Estimate(const Moment& now) const;

 private:
  struct Sample {
    absl::Duration taken;   // steady
    absl::Time peer_epoch;  // coordinator's wall clock minus our steady one
    absl::Duration half_trip;
  };
  static absl::Duration Bound(const Sample& sample, absl::Duration now);

  std::deque<Sample> samples_;
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_CLOCK_FILTER_H_
