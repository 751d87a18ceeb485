// A path between two hosts, as data. README.md shows every key of its YAML form.
//
// The path is drawn with the near host on the left. "Forward" is away from the near host, "reverse"
// towards it. A hop owns the link to its left neighbour, in both directions; the far host owns the
// last link.
#ifndef ASSAY_TESTS_PATHSIM_SCENARIO_SCENARIO_H_
#define ASSAY_TESTS_PATHSIM_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "tests/pathsim/packet/address.h"
#include "tests/pathsim/packet/icmp_answer.h"

namespace assay::pathsim {

// Added to a delay, drawn anew for each packet.
struct Jitter {
  enum class Distribution {
    kConstant,   // nothing
    kUniform,    // [0, scale)
    kNormal,     // mean 0, standard deviation `scale`
    kLognormal,  // median `scale`, `shape` the standard deviation of the logarithm
    kPareto,     // from 0 on (Lomax), with `scale` and tail index `shape`
  };
  Distribution distribution = Distribution::kConstant;
  absl::Duration scale;
  double shape = 1;
  absl::Duration most = absl::InfiniteDuration();  // larger draws are cut to it
};

// Which packets of a link something happens to.
struct Choice {
  enum class Kind {
    kRatio,    // each for itself with probability `ratio` (Bernoulli)
    kGilbert,  // Gilbert-Elliott: two states, each with a probability
    kPackets,  // those whose ordinal is listed
    kEvery,    // every `every`-th
  };
  Kind kind = Kind::kRatio;
  double ratio = 0;
  double enter = 0, leave = 1;  // good to bad, bad to good; decided before each packet
  double good = 0, bad = 1;     // probability in each state
  std::vector<std::pair<uint64_t, uint64_t>> packets;  // first and last, counted from 1
  uint64_t every = 0;
  // Only packets of this transport are counted and chosen (1 stands for ICMPv6 too); 0: any.
  uint8_t protocol = 0;
};

struct LinkSettings {
  absl::Duration delay;
  Jitter jitter;
  bool reorder = false;  // false: a packet never overtakes one before it
  std::vector<Choice> loss;
  std::vector<Choice> duplicate;
  std::vector<Choice> late;  // these are held back for `late_by` more and may be overtaken
  absl::Duration late_by;
  double rate_bps = 0;             // bits of IP packets a second; 0: without limit
  uint64_t queue_bytes = 100'000;  // that may wait for `rate_bps`, the one being sent included
  uint16_t mtu = 65535;
  bool answers_too_big = true;  // false: a black hole for what doesn't fit
};

// What a router itself sends.
struct AnswerSettings {
  bool silent = false;
  bool echo = true;       // answers echo requests to its own addresses
  double rate_per_s = 0;  // token bucket over all its answers; 0: without limit
  double burst = 1;       // tokens in a full bucket
  absl::Duration delay;   // of its slow path
  Jitter jitter;
  Quote quote;
  uint8_t ttl = 255;
};

struct RouterSettings {
  std::string name;
  // Several of a version are used in turn, answer by answer.
  std::vector<Address> v4, v6;
  bool hidden = false;  // doesn't touch the TTL, as in an MPLS tunnel without TTL propagation
  LinkSettings forward, reverse;
  AnswerSettings answers;
  // Where its answers to the near host join the return path: the name of a router there. Empty:
  // they go back over the routers that the packet came by.
  std::string return_via;
};

enum class SpreadBy { kFlow, kAddresses, kPacket };

// One or more equal-cost branches, each of one or more routers (indices into Scenario::routers).
struct Segment {
  std::vector<std::vector<int>> branches;
  SpreadBy by = SpreadBy::kFlow;
};
using Route = std::vector<Segment>;  // from left to right

struct RouteChange {
  // Whichever is set: time since the first packet entered the path, or the number of packets that
  // the near host had sent before the first one which takes the new route.
  std::optional<absl::Duration> at;
  std::optional<uint64_t> after_packets;
  std::optional<Route> hops, return_hops;
};

struct HostAddress {
  Address address;
  int prefix = 32;  // the host answers for all of it
};

struct HostSettings {
  std::vector<HostAddress> addresses;  // the first one of a version is that of its device
  uint16_t mtu = 1500;
};

struct Scenario {
  uint64_t seed = 1;
  HostSettings near, far;
  LinkSettings far_forward, far_reverse;
  std::vector<RouterSettings> routers;
  Route hops;
  std::optional<Route> return_hops;  // nullopt: the way back is `hops`, whatever that is by then
  std::vector<RouteChange> changes;  // in the order in which they happen
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_SCENARIO_SCENARIO_H_
