// When to send next: regular in the mean, jittered in each gap so that nothing periodic on the path
// is sampled in step (RFC 2330, section 11.1.1), and without bursts after a stall.
#ifndef ASSAY_AGENT_PROBE_ROUTE_SEND_PACER_H_
#define ASSAY_AGENT_PROBE_ROUTE_SEND_PACER_H_

#include <algorithm>
#include <cstdint>
#include <random>

namespace assay::agent::route {

// Times are nanoseconds of any one monotonic clock. Pure: the same seed gives the same times.
class SendPacer {
 public:
  // The first sending is due at first_ns.
  SendPacer(int64_t interval_ns, uint64_t seed, int64_t first_ns)
      : interval_ns_(interval_ns), random_(seed), due_ns_(first_ns) {}

  int64_t due_ns() const { return due_ns_; }

  // Something was sent, or refused, at now_ns: the next gap is the interval, give or take a tenth.
  // Small delays of the sender are made up for by a gap of at least half of that; what cannot be
  // made up for so is given up, and the rest of the times move with it.
  void Advance(int64_t now_ns) {
    double jitter = std::uniform_real_distribution<double>(-kJitter, kJitter)(random_);
    auto gap_ns = static_cast<int64_t>(static_cast<double>(interval_ns_) * (1 + jitter));
    due_ns_ = std::max(due_ns_ + gap_ns, now_ns + gap_ns / 2);
  }

 private:
  static constexpr double kJitter = 0.1;

  int64_t interval_ns_;
  std::mt19937_64 random_;
  int64_t due_ns_;
};

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_SEND_PACER_H_
