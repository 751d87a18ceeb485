// What a router needs to know of a packet, read from its bytes.
//
// Nothing here trusts a length field: whatever the bytes are, no field outside them is read.
#ifndef ASSAY_TESTS_PATHSIM_PACKET_HEADER_H_
#define ASSAY_TESTS_PATHSIM_PACKET_HEADER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tests/pathsim/packet/address.h"
#include "tests/pathsim/packet/bytes.h"

namespace assay::pathsim {

constexpr uint8_t kIcmp = 1;
constexpr uint8_t kTcp = 6;
constexpr uint8_t kUdp = 17;
constexpr uint8_t kIcmp6 = 58;

struct Header {
  Address source, destination;
  uint8_t ttl = 0;              // hop limit in IPv6
  uint8_t traffic_class = 0;    // DSCP and ECN
  uint32_t flow_label = 0;      // IPv6
  uint8_t protocol = 0;         // of the transport, behind IPv6 extension headers
  size_t transport_at = 0;      // where the transport begins; may be the end of the packet
  size_t total_bytes = 0;       // as the IP header says
  uint16_t identification = 0;  // IPv4
  bool dont_fragment = false;   // always true in IPv6: no router fragments it
  bool is_fragment = false;     // the first one too
  bool is_later_fragment = false;

  int version() const { return source.version; }
};

// INVALID_ARGUMENT where the bytes are no whole IP packet: too short, a wrong version or header
// length, a total length beyond the bytes, a wrong IPv4 header checksum, or more than 16 IPv6
// extension headers. Bytes behind the total length are ignored.
absl::StatusOr<Header> ParseHeader(ByteView packet);

// The first fields of the transport, for logs, hashes and tests; only those of its protocol are
// set.
struct Transport {
  uint16_t source_port = 0, destination_port = 0;              // UDP, TCP
  uint32_t tcp_sequence = 0;                                   // TCP
  uint8_t tcp_flags = 0;                                       // TCP
  uint8_t icmp_type = 0, icmp_code = 0;                        // ICMP
  uint16_t icmp_checksum = 0, icmp_id = 0, icmp_sequence = 0;  // ICMP
};

// `header` is that of `packet`. NOT_FOUND for other protocols, later fragments, and transports cut
// before their first 8 bytes (20 for TCP).
absl::StatusOr<Transport> ParseTransport(const Header& header, ByteView packet);

// Whether it is an ICMP error, or may be one (cut, a later fragment of ICMP): no ICMP error answers
// it (RFC 1122 3.2.2, RFC 4443 2.4 e).
bool MayBeIcmpError(const Header& header, ByteView packet);

// One less, IPv4's checksum updated. `packet` has been parsed and its TTL is at least 1.
void DecrementTtl(Bytes& packet);

// What flows are told apart by, as equal-cost routers do: addresses, protocol, flow label, and the
// first four bytes of the transport: ports, or type, code and checksum of ICMP (Augustin et al.,
// "Avoiding traceroute anomalies with Paris traceroute", 2006). Fragments have no ports: all of a
// datagram take one way.
uint64_t FlowHash(const Header& header, ByteView packet, uint64_t seed);
// Of the addresses alone.
uint64_t AddressHash(const Header& header, uint64_t seed);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PACKET_HEADER_H_
