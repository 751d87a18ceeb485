// ICMP packets as bytes: echo requests are built, echo replies and errors are read. Knows nothing
// of sockets or time. Every parser takes bytes from the network: any length, any content.
//
// Payload of a request (big endian), so that a reply is recognised whatever else pings on this
// host:
//
//   0       8       12                payload_bytes
//   | cookie | index | pattern ...    |
//
// cookie: drawn at random for each target of each probe. index: number of the request, which the
// 16-bit sequence number repeats only in part. pattern: a function of both, so that any change
// shows.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ICMP_PACKET_H_
#define ASSAY_AGENT_PROBE_ROUTE_ICMP_PACKET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace assay::agent::route {

enum class IpVersion { kV4, kV6 };

using Bytes = absl::Span<const uint8_t>;

struct Identifier {
  uint16_t value = 0;
  bool operator==(const Identifier&) const = default;
};

struct Sequence {
  uint16_t value = 0;
  bool operator==(const Sequence&) const = default;
};

// A numeric address; of IPv4 the first four bytes count, the rest is zero.
struct IpAddress {
  IpVersion version = IpVersion::kV4;
  std::array<uint8_t, 16> bytes = {};

  bool operator==(const IpAddress&) const = default;
  // "192.0.2.1", "2001:db8::1".
  std::string ToString() const;

  template <typename H>
  friend H AbslHashValue(H h, const IpAddress& address) {
    return H::combine(std::move(h), address.version, address.bytes);
  }
};

inline constexpr size_t kIcmpHeaderBytes = 8;
inline constexpr size_t kMinPayloadBytes = 16;
inline constexpr size_t kMaxPayloadBytes = 65000;

// RFC 1071, over data that is padded with a zero byte when its length is odd. 0 over a message that
// contains its own right checksum.
uint16_t InternetChecksum(Bytes data);

struct EchoRequest {
  Identifier id;
  Sequence sequence;
  uint64_t cookie = 0;
  uint32_t index = 0;
};

// The ICMP message, header included. The checksum is filled in for IPv4; for IPv6 the kernel does
// it. payload_bytes between kMinPayloadBytes and kMaxPayloadBytes.
void BuildEchoRequest(IpVersion version, const EchoRequest& request, size_t payload_bytes,
                      std::vector<uint8_t>* message);

struct EchoReply {
  Identifier id;
  Sequence sequence;
  // The checksum was right (IPv4; for IPv6 the kernel has seen to it).
  bool checksum_ok = true;
  Bytes payload;
};

// Cookie at the start of an echo payload; nothing if it is too short.
std::optional<uint64_t> CookieOf(Bytes payload);
// The index, if `payload` is, byte for byte and in length, what BuildEchoRequest wrote.
std::optional<uint32_t> IntactIndex(Bytes payload, uint64_t cookie, size_t payload_bytes);

// An ICMP error that quotes an echo request.
struct IcmpError {
  uint8_t type = 0;
  uint8_t code = 0;
  IpAddress quoted_destination;
  Identifier id;
  Sequence sequence;
  // Most routers quote only the ICMP header.
  std::optional<uint64_t> cookie;
};

struct IcmpMessage {
  // At most one is set; neither for a message of no interest or that does not hold what it should.
  std::optional<EchoReply> reply;
  std::optional<IcmpError> error;
};

// `message` starts at the ICMP header. Errors that quote something else than an echo request, or
// too little of it, or that have a wrong checksum, give nothing.
IcmpMessage ParseIcmp(IpVersion version, Bytes message);

// What follows the IPv4 header, as raw sockets deliver packets. Empty for anything that is not an
// ICMP packet with a whole header.
Bytes StripIpv4Header(Bytes packet);

// The quoted ICMP header and what follows it: an error as the error queue of a datagram socket
// delivers it.
std::optional<IcmpError> ParseQuotedEcho(IpVersion version, Bytes quoted);

// Finds our request in an outgoing packet that the kernel hands back with its send time: link and
// IP headers of a length that depends on the device may come first. `known` tells our cookies.
std::optional<EchoRequest> FindEchoRequest(IpVersion version, Bytes packet,
                                           absl::FunctionRef<bool(uint64_t)> known);

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_ICMP_PACKET_H_
