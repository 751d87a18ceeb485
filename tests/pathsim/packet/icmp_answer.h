// What a router sends back: ICMP errors about a packet, and echo replies.
#ifndef ASSAY_TESTS_PATHSIM_PACKET_ICMP_ANSWER_H_
#define ASSAY_TESTS_PATHSIM_PACKET_ICMP_ANSWER_H_

#include <cstdint>
#include <vector>

#include "tests/pathsim/packet/address.h"
#include "tests/pathsim/packet/bytes.h"
#include "tests/pathsim/packet/header.h"

namespace assay::pathsim {

enum class IcmpError { kTimeExceeded, kTooBig, kPortUnreachable };

// One entry of an MPLS label stack (RFC 3032 2.1); the last one of a stack gets its S bit.
struct MplsLabel {
  uint32_t label = 0;  // 20 bits
  uint8_t traffic_class = 0;
  uint8_t ttl = 1;
};

// How much of the packet that it is about an error quotes, and what it does to it.
struct Quote {
  enum class Kind {
    kFull,        // up to 576 bytes in all in IPv4 (RFC 1812), 1,280 in IPv6 (RFC 4443)
    kBytes,       // cut behind `bytes` bytes, IP header included
    kTransport,   // IP header and `bytes` bytes of what follows it; 8 is what RFC 792 asks for
    kWrongPorts,  // full, the first four bytes of the transport inverted
    kWrongDestination,  // full, the last byte of the destination inverted, as behind some NATs
    kGarbage,           // full length, every byte random
  };
  Kind kind = Kind::kFull;
  size_t bytes = 0;
  std::vector<MplsLabel> labels;  // a label stack object (RFC 4950), where not empty
  // Routers from before RFC 4884: the extension follows at byte 128 and no length field says so.
  bool legacy_extension = false;
};

// The error `kind` from `source` to the sender of `packet`, whose header is `header`. `mtu` is that
// of kTooBig. `random` decides garbage. `ttl` is that of the new packet.
Bytes BuildIcmpError(IcmpError kind, uint16_t mtu, const Address& source, uint8_t ttl,
                     const Quote& quote, const Header& header, ByteView packet, uint64_t random);

// The reply to an echo request (parsed), from the address it was sent to.
Bytes BuildEchoReply(const Header& header, ByteView packet, uint8_t ttl);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PACKET_ICMP_ANSWER_H_
