// Whole packets from their fields, every checksum right.
#ifndef ASSAY_TESTS_PATHSIM_PACKET_BUILD_H_
#define ASSAY_TESTS_PATHSIM_PACKET_BUILD_H_

#include <cstdint>
#include <vector>

#include "tests/pathsim/packet/address.h"
#include "tests/pathsim/packet/bytes.h"

namespace assay::pathsim {

// Source and destination are of one version.
struct IpFields {
  Address source, destination;
  uint8_t ttl = 64;
  uint8_t traffic_class = 0;
  uint16_t identification = 0;  // IPv4
  bool dont_fragment = false;   // IPv4
  uint32_t flow_label = 0;      // IPv6
};

// An IP header in front of `payload`. At most 65,515 bytes of payload.
Bytes BuildIp(const IpFields& ip, uint8_t protocol, ByteView payload);

Bytes BuildUdp(const IpFields& ip, uint16_t source_port, uint16_t destination_port,
               ByteView payload);
// Flags as in the header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16.
Bytes BuildTcp(const IpFields& ip, uint16_t source_port, uint16_t destination_port,
               uint32_t sequence, uint8_t flags, ByteView payload);
// ICMP or ICMPv6 by the addresses' version; `body` is everything behind the checksum.
Bytes BuildIcmp(const IpFields& ip, uint8_t type, uint8_t code, ByteView body);
Bytes BuildEchoRequest(const IpFields& ip, uint16_t id, uint16_t sequence, ByteView payload);

// The pieces of an IPv4 packet (parsed, without "don't fragment") that fit `mtu`, which has room
// for its header and 8 bytes (RFC 791 3.2). The options are copied to every piece.
std::vector<Bytes> FragmentV4(ByteView packet, size_t mtu);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PACKET_BUILD_H_
