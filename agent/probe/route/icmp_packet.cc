#include "agent/probe/route/icmp_packet.h"

#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#include <algorithm>
#include <cstring>

namespace assay::agent::route {
namespace {

constexpr size_t kIndexOffset = 8;
constexpr size_t kPatternOffset = 12;
constexpr size_t kIpv4HeaderBytes = 20;
constexpr size_t kIpv6HeaderBytes = 40;
// The request begins within so many bytes: link header with tags, IP header with options.
constexpr size_t kMaxLeadingHeaders = 128;

uint8_t RequestType(IpVersion version) {
  return version == IpVersion::kV4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
}

uint16_t Load16(Bytes data, size_t at) {
  return static_cast<uint16_t>(data[at] << 8 | data[at + 1]);
}

uint64_t LoadBig(Bytes data, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | data[at + i];
  return value;
}

void StoreBig(uint8_t* to, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
  }
}

// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014): eight bytes of
// pattern at a time.
uint64_t SplitMix(uint64_t* state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Calls `visit(at, bytes, size)` for each block of the pattern of a payload of `payload_bytes`.
void ForEachPatternBlock(uint64_t cookie, uint32_t index, size_t payload_bytes,
                         absl::FunctionRef<void(size_t, const uint8_t*, size_t)> visit) {
  uint64_t state = cookie ^ (uint64_t{index} << 32);
  for (size_t at = kPatternOffset; at < payload_bytes; at += 8) {
    uint8_t block[8];
    StoreBig(block, SplitMix(&state), 8);
    visit(at, block, std::min<size_t>(8, payload_bytes - at));
  }
}

// Offset of the ICMP header behind a quoted IPv6 header at `packet`, past extension headers; 0 if
// it isn't there.
size_t IcmpOffsetInIpv6(Bytes packet) {
  if (packet.size() < kIpv6HeaderBytes || packet[0] >> 4 != 6) return 0;
  uint8_t next = packet[6];
  size_t at = kIpv6HeaderBytes;
  while (next != IPPROTO_ICMPV6) {
    if (packet.size() < at + 8) return 0;
    size_t length = 8;
    if (next == IPPROTO_FRAGMENT) {
      if ((Load16(packet, at + 2) & 0xFFF8) != 0) return 0;  // not the first fragment
    } else if (next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS) {
      length = (size_t{packet[at + 1]} + 1) * 8;
    } else {
      return 0;
    }
    next = packet[at];
    at += length;
  }
  return at;
}

std::optional<IcmpError> ParseQuotedPacket(IpVersion version, Bytes packet) {
  IpAddress destination{.version = version};
  size_t offset = 0;
  if (version == IpVersion::kV4) {
    if (packet.size() < kIpv4HeaderBytes || packet[0] >> 4 != 4) return std::nullopt;
    offset = size_t{packet[0] & 0xFu} * 4;
    bool first_fragment = (Load16(packet, 6) & 0x1FFF) == 0;
    if (offset < kIpv4HeaderBytes || packet[9] != IPPROTO_ICMP || !first_fragment) {
      return std::nullopt;
    }
    std::copy_n(packet.begin() + 16, 4, destination.bytes.begin());
  } else {
    offset = IcmpOffsetInIpv6(packet);
    if (offset == 0) return std::nullopt;
    std::copy_n(packet.begin() + 24, 16, destination.bytes.begin());
  }
  if (packet.size() < offset) return std::nullopt;
  std::optional<IcmpError> error = ParseQuotedEcho(version, packet.subspan(offset));
  if (error) error->quoted_destination = destination;
  return error;
}

bool IsError(IpVersion version, uint8_t type) {
  if (version == IpVersion::kV6) return type >= ICMP6_DST_UNREACH && type <= ICMP6_PARAM_PROB;
  return type == ICMP_DEST_UNREACH || type == ICMP_SOURCE_QUENCH || type == ICMP_TIME_EXCEEDED ||
         type == ICMP_PARAMETERPROB;
}

}  // namespace

std::string IpAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(version == IpVersion::kV4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof(text));
  return text;
}

uint16_t InternetChecksum(Bytes data) {
  uint64_t sum = 0;
  size_t i = 0;
  for (; i + 1 < data.size(); i += 2) sum += Load16(data, i);
  if (i < data.size()) sum += uint64_t{data[i]} << 8;
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void BuildEchoRequest(IpVersion version, const EchoRequest& request, size_t payload_bytes,
                      std::vector<uint8_t>* message) {
  message->assign(kIcmpHeaderBytes + payload_bytes, 0);
  uint8_t* bytes = message->data();
  bytes[0] = RequestType(version);
  StoreBig(bytes + 4, request.id.value, 2);
  StoreBig(bytes + 6, request.sequence.value, 2);
  uint8_t* payload = bytes + kIcmpHeaderBytes;
  StoreBig(payload, request.cookie, 8);
  StoreBig(payload + kIndexOffset, request.index, 4);
  ForEachPatternBlock(request.cookie, request.index, payload_bytes,
                      [payload](size_t at, const uint8_t* block, size_t size) {
                        std::memcpy(payload + at, block, size);
                      });
  if (version == IpVersion::kV4) StoreBig(bytes + 2, InternetChecksum(*message), 2);
}

std::optional<uint64_t> CookieOf(Bytes payload) {
  if (payload.size() < kIndexOffset) return std::nullopt;
  return LoadBig(payload, 0, 8);
}

std::optional<uint32_t> IntactIndex(Bytes payload, uint64_t cookie, size_t payload_bytes) {
  if (payload.size() != payload_bytes || payload.size() < kMinPayloadBytes) return std::nullopt;
  auto index = static_cast<uint32_t>(LoadBig(payload, kIndexOffset, 4));
  bool intact = CookieOf(payload) == cookie;
  ForEachPatternBlock(cookie, index, payload_bytes,
                      [&](size_t at, const uint8_t* block, size_t size) {
                        intact = intact && std::memcmp(payload.data() + at, block, size) == 0;
                      });
  if (!intact) return std::nullopt;
  return index;
}

IcmpMessage ParseIcmp(IpVersion version, Bytes message) {
  IcmpMessage parsed;
  if (message.size() < kIcmpHeaderBytes) return parsed;
  bool checksum_ok = version == IpVersion::kV6 || InternetChecksum(message) == 0;
  uint8_t reply_type = version == IpVersion::kV4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY;
  if (message[0] == reply_type && message[1] == 0) {
    parsed.reply = EchoReply{.id = {Load16(message, 4)},
                             .sequence = {Load16(message, 6)},
                             .checksum_ok = checksum_ok,
                             .payload = message.subspan(kIcmpHeaderBytes)};
  } else if (IsError(version, message[0]) && checksum_ok) {
    parsed.error = ParseQuotedPacket(version, message.subspan(kIcmpHeaderBytes));
    if (parsed.error) {
      parsed.error->type = message[0];
      parsed.error->code = message[1];
    }
  }
  return parsed;
}

Bytes StripIpv4Header(Bytes packet) {
  if (packet.size() < kIpv4HeaderBytes || packet[0] >> 4 != 4 || packet[9] != IPPROTO_ICMP) {
    return {};
  }
  size_t header = size_t{packet[0] & 0xFu} * 4;
  if (header < kIpv4HeaderBytes || header > packet.size()) return {};
  return packet.subspan(header);
}

std::optional<IcmpError> ParseQuotedEcho(IpVersion version, Bytes quoted) {
  if (quoted.size() < kIcmpHeaderBytes || quoted[0] != RequestType(version) || quoted[1] != 0) {
    return std::nullopt;
  }
  return IcmpError{.quoted_destination = {.version = version},
                   .id = {Load16(quoted, 4)},
                   .sequence = {Load16(quoted, 6)},
                   .cookie = CookieOf(quoted.subspan(kIcmpHeaderBytes))};
}

std::optional<EchoRequest> FindEchoRequest(IpVersion version, Bytes packet,
                                           absl::FunctionRef<bool(uint64_t)> known) {
  constexpr size_t kNeeded = kIcmpHeaderBytes + kPatternOffset;
  // Headers before it have an even length.
  for (size_t at = 0; at <= kMaxLeadingHeaders && at + kNeeded <= packet.size(); at += 2) {
    if (packet[at] != RequestType(version) || packet[at + 1] != 0) continue;
    uint64_t cookie = LoadBig(packet, at + kIcmpHeaderBytes, 8);
    if (!known(cookie)) continue;
    return EchoRequest{
        .id = {Load16(packet, at + 4)},
        .sequence = {Load16(packet, at + 6)},
        .cookie = cookie,
        .index = static_cast<uint32_t>(LoadBig(packet, at + kIcmpHeaderBytes + kIndexOffset, 4))};
  }
  return std::nullopt;
}

}  // namespace assay::agent::route
