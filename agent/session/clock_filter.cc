#include "agent/session/clock_filter.h"

#include <algorithm>

#include "common/base/proto_time.h"

namespace assay::session {
namespace {

constexpr size_t kSamples = 8;
constexpr double kDrift = 50e-6;

}  // namespace

absl::Duration ClockFilter::Bound(const Sample& sample, absl::Duration now) {
  return sample.half_trip + std::max(now - sample.taken, absl::ZeroDuration()) * kDrift;
}

void ClockFilter::Add(const Moment& sent, absl::Time peer_received, absl::Time peer_sent,
                      const Moment& received) {
  absl::Duration away = peer_sent - peer_received;
  absl::Duration trip = (received.steady - sent.steady) - away;
  if (away < absl::ZeroDuration() || trip < absl::ZeroDuration()) return;
  // The answer was made half a trip before it came, if both ways are equally long.
  absl::Time peer_at_receipt = peer_sent + trip / 2;
  samples_.push_back({received.steady, peer_at_receipt - received.steady, trip / 2});
  if (samples_.size() > kSamples) samples_.pop_front();
}

std::optional<v1::ClockEstimate> ClockFilter::Estimate(const Moment& now) const {
  if (samples_.empty()) return std::nullopt;
  const Sample& best =
      *std::min_element(samples_.begin(), samples_.end(), [&](const Sample& a, const Sample& b) {
        return Bound(a, now.steady) < Bound(b, now.steady);
      });
  v1::ClockEstimate estimate;
  *estimate.mutable_offset() = ToProto(now.Epoch() - best.peer_epoch);
  *estimate.mutable_error_bound() = ToProto(Bound(best, now.steady));
  return estimate;
}

}  // namespace assay::session
