// What one router says about packets, under its limits.
#ifndef ASSAY_TESTS_PATHSIM_PATH_ROUTER_H_
#define ASSAY_TESTS_PATHSIM_PATH_ROUTER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "tests/pathsim/packet/header.h"
#include "tests/pathsim/packet/icmp_answer.h"
#include "tests/pathsim/path/event.h"
#include "tests/pathsim/path/link.h"
#include "tests/pathsim/path/random.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

// Tokens come at `rate_per_s`, at most `burst` of them wait; it starts full. A rate of 0 never
// refuses.
class TokenBucket {
 public:
  TokenBucket(double rate_per_s, double burst)
      : rate_per_s_(rate_per_s), burst_(burst), tokens_(burst) {}
  bool Take(absl::Duration time);

 private:
  double rate_per_s_, burst_, tokens_;
  absl::Duration filled_;
};

class Router {
 public:
  Router(const RouterSettings& settings, uint64_t seed);

  bool Owns(const Address& address) const;

  struct Answer {
    Reason kind = Reason::kNone;     // kTimeExceeded and so on; kNone where there is none
    Reason refused = Reason::kNone;  // why not
    absl::Duration leaves;
    Bytes bytes;
  };
  Answer Error(absl::Duration time, IcmpError kind, uint16_t mtu, const Header& header,
               ByteView packet);
  // To a packet for one of its own addresses: an echo reply, a port unreachable, or nothing.
  Answer Local(absl::Duration time, const Header& header, ByteView packet);

  const RouterSettings& settings() const { return settings_; }
  Link forward, reverse;

 private:
  Answer Limited(absl::Duration time, Reason kind);

  const RouterSettings& settings_;
  TokenBucket bucket_;
  Random random_;
  uint64_t answers_ = 0;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_ROUTER_H_
