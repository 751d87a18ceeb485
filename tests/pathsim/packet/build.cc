#include "tests/pathsim/packet/build.h"

#include <algorithm>

#include "tests/pathsim/packet/checksum.h"
#include "tests/pathsim/packet/header.h"

namespace assay::pathsim {

Bytes BuildIp(const IpFields& ip, uint8_t protocol, ByteView payload) {
  Bytes packet(ip.source.version == 4 ? 20 : 40);
  absl::Span<uint8_t> bytes = absl::MakeSpan(packet);
  if (ip.source.version == 4) {
    packet[0] = 0x45;
    packet[1] = ip.traffic_class;
    Set16(bytes, 2, static_cast<uint16_t>(20 + payload.size()));
    Set16(bytes, 4, ip.identification);
    Set16(bytes, 6, ip.dont_fragment ? 0x4000 : 0);
    packet[8] = ip.ttl;
    packet[9] = protocol;
    std::copy_n(ip.source.bytes.begin(), 4, packet.begin() + 12);
    std::copy_n(ip.destination.bytes.begin(), 4, packet.begin() + 16);
    Set16(bytes, 10, InternetChecksum(packet));
  } else {
    Set32(bytes, 0, 6u << 28 | static_cast<uint32_t>(ip.traffic_class) << 20 | ip.flow_label);
    Set16(bytes, 4, static_cast<uint16_t>(payload.size()));
    packet[6] = protocol;
    packet[7] = ip.ttl;
    std::copy_n(ip.source.bytes.begin(), 16, packet.begin() + 8);
    std::copy_n(ip.destination.bytes.begin(), 16, packet.begin() + 24);
  }
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

Bytes BuildUdp(const IpFields& ip, uint16_t source_port, uint16_t destination_port,
               ByteView payload) {
  Bytes segment(8);
  absl::Span<uint8_t> bytes = absl::MakeSpan(segment);
  Set16(bytes, 0, source_port);
  Set16(bytes, 2, destination_port);
  Set16(bytes, 4, static_cast<uint16_t>(8 + payload.size()));
  segment.insert(segment.end(), payload.begin(), payload.end());
  uint16_t checksum = TransportChecksum(ip.source, ip.destination, kUdp, segment);
  // 0 would mean "none" (RFC 768).
  Set16(absl::MakeSpan(segment), 6, checksum == 0 ? 0xffff : checksum);
  return BuildIp(ip, kUdp, segment);
}

Bytes BuildTcp(const IpFields& ip, uint16_t source_port, uint16_t destination_port,
               uint32_t sequence, uint8_t flags, ByteView payload) {
  Bytes segment(20);
  absl::Span<uint8_t> bytes = absl::MakeSpan(segment);
  Set16(bytes, 0, source_port);
  Set16(bytes, 2, destination_port);
  Set32(bytes, 4, sequence);
  segment[12] = 5 << 4;
  segment[13] = flags;
  Set16(bytes, 14, 65535);
  segment.insert(segment.end(), payload.begin(), payload.end());
  Set16(absl::MakeSpan(segment), 16, TransportChecksum(ip.source, ip.destination, kTcp, segment));
  return BuildIp(ip, kTcp, segment);
}

Bytes BuildIcmp(const IpFields& ip, uint8_t type, uint8_t code, ByteView body) {
  Bytes segment = {type, code, 0, 0};
  segment.insert(segment.end(), body.begin(), body.end());
  bool v4 = ip.source.version == 4;
  Set16(absl::MakeSpan(segment), 2,
        v4 ? InternetChecksum(segment)
           : TransportChecksum(ip.source, ip.destination, kIcmp6, segment));
  return BuildIp(ip, v4 ? kIcmp : kIcmp6, segment);
}

Bytes BuildEchoRequest(const IpFields& ip, uint16_t id, uint16_t sequence, ByteView payload) {
  Bytes body(4);
  Set16(absl::MakeSpan(body), 0, id);
  Set16(absl::MakeSpan(body), 2, sequence);
  body.insert(body.end(), payload.begin(), payload.end());
  return BuildIcmp(ip, ip.source.version == 4 ? 8 : 128, 0, body);
}

std::vector<Bytes> FragmentV4(ByteView packet, size_t mtu) {
  const size_t header_bytes = (packet[0] & 0xfu) * 4;
  const size_t room = (mtu - header_bytes) / 8 * 8;
  const uint16_t field = Get16(packet, 6);
  ByteView payload = packet.subspan(header_bytes, Get16(packet, 2) - header_bytes);
  std::vector<Bytes> pieces;
  for (size_t at = 0; at < payload.size(); at += room) {
    ByteView part = payload.subspan(at, std::min(room, payload.size() - at));
    Bytes piece(packet.begin(), packet.begin() + static_cast<ptrdiff_t>(header_bytes));
    absl::Span<uint8_t> bytes = absl::MakeSpan(piece);
    // A piece of a piece keeps "more fragments".
    bool more = at + part.size() < payload.size() || (field & 0x2000) != 0;
    Set16(bytes, 2, static_cast<uint16_t>(header_bytes + part.size()));
    Set16(bytes, 6, static_cast<uint16_t>((more ? 0x2000 : 0) | ((field & 0x1fff) + at / 8)));
    Set16(bytes, 10, 0);
    Set16(bytes, 10, InternetChecksum(piece));
    piece.insert(piece.end(), part.begin(), part.end());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace assay::pathsim
