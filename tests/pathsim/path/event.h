// What happened to packets on the path: the truth that measurements are compared with.
#ifndef ASSAY_TESTS_PATHSIM_PATH_EVENT_H_
#define ASSAY_TESTS_PATHSIM_PATH_EVENT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/pathsim/packet/bytes.h"
#include "tests/pathsim/packet/header.h"

namespace assay::pathsim {

enum class Direction { kForward, kReverse };

enum class What {
  kSent,        // a host put it on the path
  kDropped,     // a link or router let it go
  kAnswered,    // a router made `answer` because of it
  kUnanswered,  // a router would have answered it, but for `reason`
  kDuplicated,  // a link made `answer`, a copy of it
  kFragmented,  // a router made `answer`, a piece of it; once for each piece, no event for its end
  kDelivered,   // a host got it
  kChanged,     // the route changed
};

enum class Reason {
  kNone,
  kLoss,           // the link lost it
  kQueue,          // no room in front of the bottleneck
  kTtl,            // expired
  kMtu,            // too big for the next link
  kLocal,          // was for the router itself, which then may have answered it
  kMalformed,      // no IP packet
  kLinkLocal,      // never leaves a link: router solicitations and the like
  kHostQueue,      // the host's own device dropped it before it reached the path
  kOverload,       // more packets on the path than this program holds
  kSilent,         // the router answers nothing
  kRateLimit,      // its bucket was empty
  kNoAddress,      // it has no address of that IP version
  kNotAnswerable,  // RFC 1122 3.2.2 forbids it: ICMP error, later fragment, sender not one host
  kTimeExceeded,   // kinds of answer
  kTooBig,
  kPortUnreachable,
  kEchoReply,
};

absl::string_view Name(Direction direction);
absl::string_view Name(What what);
absl::string_view Name(Reason reason);

// Places that are no router.
constexpr int kNearHost = -1;
constexpr int kFarHost = -2;

struct PacketFields {
  Header header;
  std::optional<Transport> transport;
};
PacketFields FieldsOf(const Header& header, ByteView packet);

struct Event {
  absl::Duration time;  // since the path's epoch
  What what = What::kSent;
  uint64_t packet = 0;   // number on this path, from 1; 0 where it is about no packet
  uint64_t ordinal = 0;  // kSent: among what this host sent, from 1
  Direction direction = Direction::kForward;
  // Index of the router, kNearHost or kFarHost. Loss and queue drops are named for the end that the
  // packet would have reached.
  int place = kNearHost;
  Reason reason = Reason::kNone;
  uint64_t answer = 0;  // number of the packet that was made
  // kSent, kAnswered: the packet sent, the answer.
  std::optional<PacketFields> fields;
};

// A packet for a host.
struct Delivery {
  absl::Duration due;
  Direction to = Direction::kForward;  // kForward: the far host
  uint64_t packet = 0;
  uint64_t about = 0;     // the packet that it answers, copies or is a piece of; else 0
  absl::Duration sent;    // when a host sent this packet, or a router made it
  absl::Duration origin;  // when a host sent the packet that started it all: due - origin is a
                          // delay to the far host, or the round trip to a hop
  Bytes bytes;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_EVENT_H_
