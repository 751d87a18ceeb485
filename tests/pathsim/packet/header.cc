#include "tests/pathsim/packet/header.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/pathsim/packet/checksum.h"

namespace assay::pathsim {
namespace {

constexpr int kMostExtensionHeaders = 16;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("no IP packet: ", what));
}

absl::StatusOr<Header> ParseV4(ByteView packet) {
  if (packet.size() < 20) return Malformed("shorter than an IPv4 header");
  Header header;
  header.transport_at = (packet[0] & 0xfu) * 4;
  header.total_bytes = Get16(packet, 2);
  if (header.transport_at < 20) return Malformed("header length below 20");
  if (header.total_bytes > packet.size()) return Malformed("cut before its total length");
  if (header.total_bytes < header.transport_at) return Malformed("total length within the header");
  if (InternetChecksum(packet.subspan(0, header.transport_at)) != 0) {
    return Malformed("wrong header checksum");
  }
  header.traffic_class = packet[1];
  header.identification = Get16(packet, 4);
  uint16_t fragment = Get16(packet, 6);
  header.dont_fragment = (fragment & 0x4000) != 0;
  header.is_later_fragment = (fragment & 0x1fff) != 0;
  header.is_fragment = header.is_later_fragment || (fragment & 0x2000) != 0;
  header.ttl = packet[8];
  header.protocol = packet[9];
  header.source = AddressFromBytes(packet.subspan(12, 4));
  header.destination = AddressFromBytes(packet.subspan(16, 4));
  return header;
}

// Steps over hop-by-hop, routing, fragment, destination and authentication headers (RFC 8200 4).
absl::Status SkipExtensions(ByteView packet, Header& header) {
  for (int count = 0;; ++count) {
    uint8_t kind = header.protocol;
    bool skip = kind == 0 || kind == 43 || kind == 44 || kind == 51 || kind == 60;
    if (!skip || header.is_later_fragment) return absl::OkStatus();
    if (count == kMostExtensionHeaders) return Malformed("too many extension headers");
    size_t at = header.transport_at;
    if (header.total_bytes - at < 8) return Malformed("cut extension header");
    size_t bytes = kind == 44   ? 8
                   : kind == 51 ? (packet[at + 1] + 2u) * 4
                                : (packet[at + 1] + 1u) * 8;
    if (header.total_bytes - at < bytes) return Malformed("cut extension header");
    if (kind == 44) {
      uint16_t fragment = Get16(packet, at + 2);
      header.is_later_fragment = fragment >> 3 != 0;
      header.is_fragment = header.is_later_fragment || (fragment & 1) != 0;
    }
    header.protocol = packet[at];
    header.transport_at += bytes;
  }
}

absl::StatusOr<Header> ParseV6(ByteView packet) {
  if (packet.size() < 40) return Malformed("shorter than an IPv6 header");
  Header header;
  header.total_bytes = 40u + Get16(packet, 4);
  if (header.total_bytes > packet.size()) return Malformed("cut before its payload length");
  header.traffic_class = static_cast<uint8_t>(Get16(packet, 0) >> 4);
  header.flow_label = Get32(packet, 0) & 0xfffff;
  header.protocol = packet[6];
  header.ttl = packet[7];
  header.transport_at = 40;
  header.dont_fragment = true;
  header.source = AddressFromBytes(packet.subspan(8, 16));
  header.destination = AddressFromBytes(packet.subspan(24, 16));
  absl::Status status = SkipExtensions(packet, header);
  if (!status.ok()) return status;
  return header;
}

// FNV-1a, then a mix (the finaliser of SplitMix64) so that a difference of one bit changes every
// bit.
class FlowHasher {
 public:
  explicit FlowHasher(uint64_t seed) : hash_(0xcbf29ce484222325 ^ seed) {}
  void Add(ByteView bytes) {
    for (uint8_t byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3;
  }
  uint64_t Finish() const {
    uint64_t x = hash_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

 private:
  uint64_t hash_;
};

}  // namespace

absl::StatusOr<Header> ParseHeader(ByteView packet) {
  if (packet.empty()) return Malformed("empty");
  if (packet[0] >> 4 == 4) return ParseV4(packet);
  if (packet[0] >> 4 == 6) return ParseV6(packet);
  return Malformed(absl::StrCat("version ", packet[0] >> 4));
}

absl::StatusOr<Transport> ParseTransport(const Header& header, ByteView packet) {
  if (header.is_later_fragment) return absl::NotFoundError("a later fragment");
  ByteView bytes = packet.subspan(header.transport_at, header.total_bytes - header.transport_at);
  if (bytes.size() < (header.protocol == kTcp ? 20u : 8u)) {
    return absl::NotFoundError("the transport header is cut");
  }
  Transport transport;
  switch (header.protocol) {
    case kTcp:
      transport.tcp_sequence = Get32(bytes, 4);
      transport.tcp_flags = bytes[13];
      [[fallthrough]];
    case kUdp:
      transport.source_port = Get16(bytes, 0);
      transport.destination_port = Get16(bytes, 2);
      return transport;
    case kIcmp:
    case kIcmp6:
      transport.icmp_type = bytes[0];
      transport.icmp_code = bytes[1];
      transport.icmp_checksum = Get16(bytes, 2);
      transport.icmp_id = Get16(bytes, 4);
      transport.icmp_sequence = Get16(bytes, 6);
      return transport;
    default:
      return absl::NotFoundError("another protocol");
  }
}

bool MayBeIcmpError(const Header& header, ByteView packet) {
  if (header.protocol != (header.version() == 4 ? kIcmp : kIcmp6)) return false;
  if (header.is_later_fragment || header.transport_at >= header.total_bytes) return true;
  uint8_t type = packet[header.transport_at];
  if (header.version() == 6) return type < 128;
  // Destination unreachable, source quench, redirect, time exceeded, parameter problem.
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

void DecrementTtl(Bytes& packet) {
  if (packet[0] >> 4 == 6) {
    --packet[7];
    return;
  }
  uint16_t before = Get16(packet, 8);
  --packet[8];
  Set16(absl::MakeSpan(packet), 10, UpdateChecksum(Get16(packet, 10), before, Get16(packet, 8)));
}

uint64_t FlowHash(const Header& header, ByteView packet, uint64_t seed) {
  FlowHasher hasher(seed);
  hasher.Add(header.source.span());
  hasher.Add(header.destination.span());
  uint8_t label[4] = {header.protocol, static_cast<uint8_t>(header.flow_label >> 16),
                      static_cast<uint8_t>(header.flow_label >> 8),
                      static_cast<uint8_t>(header.flow_label)};
  hasher.Add(label);
  if (!header.is_fragment && header.total_bytes - header.transport_at >= 4) {
    hasher.Add(packet.subspan(header.transport_at, 4));
  }
  return hasher.Finish();
}

uint64_t AddressHash(const Header& header, uint64_t seed) {
  FlowHasher hasher(seed);
  hasher.Add(header.source.span());
  hasher.Add(header.destination.span());
  return hasher.Finish();
}

}  // namespace assay::pathsim
