// An ICMP error, from its byte 4 on (RFC 792, RFC 4443, RFC 4884, RFC 4950):
//
//   IPv4  | unused 0 | quote length / 4 | next-hop MTU or 0 (2) | quote | extension
//   IPv6  | time exceeded: quote length / 8 | unused (3); too big: MTU (4) | quote | extension
//   extension: | version 2 << 4 | 0 | checksum (2) | object length (2) | class 1 | C-type 1 |
//   labels (4 each)
//
// In front of an extension the quote is padded with zeros to at least 128 bytes.
#include "tests/pathsim/packet/icmp_answer.h"

#include <algorithm>

#include "tests/pathsim/packet/build.h"
#include "tests/pathsim/packet/checksum.h"

namespace assay::pathsim {
namespace {

constexpr size_t kSmallestExtendedQuote = 128;

Bytes MakeQuote(const Quote& quote, const Header& header, ByteView packet, size_t room,
                uint64_t random) {
  size_t bytes = header.total_bytes;
  if (quote.kind == Quote::Kind::kBytes) bytes = quote.bytes;
  if (quote.kind == Quote::Kind::kTransport) {
    bytes = (header.version() == 4 ? header.transport_at : 40) + quote.bytes;
  }
  bytes = std::min({bytes, header.total_bytes, room});
  Bytes quoted(packet.begin(), packet.begin() + static_cast<ptrdiff_t>(bytes));
  if (quote.kind == Quote::Kind::kWrongPorts) {
    for (size_t i = header.transport_at; i < std::min(bytes, header.transport_at + 4); ++i) {
      quoted[i] = static_cast<uint8_t>(~quoted[i]);
    }
  }
  size_t last_of_destination = header.version() == 4 ? 19 : 39;
  if (quote.kind == Quote::Kind::kWrongDestination && bytes > last_of_destination) {
    quoted[last_of_destination] = static_cast<uint8_t>(~quoted[last_of_destination]);
  }
  if (quote.kind == Quote::Kind::kGarbage) {
    for (uint8_t& byte : quoted) {
      random = random * 6364136223846793005 + 1442695040888963407;
      byte = static_cast<uint8_t>(random >> 56);
    }
  }
  return quoted;
}

Bytes MplsExtension(const std::vector<MplsLabel>& labels) {
  Bytes extension(8 + 4 * labels.size());
  absl::Span<uint8_t> bytes = absl::MakeSpan(extension);
  extension[0] = 2 << 4;
  Set16(bytes, 4, static_cast<uint16_t>(4 + 4 * labels.size()));
  extension[6] = 1;
  extension[7] = 1;
  for (size_t i = 0; i < labels.size(); ++i) {
    uint32_t bottom = i + 1 == labels.size() ? 1 : 0;
    Set32(
        bytes, 8 + 4 * i,
        labels[i].label << 12 | (labels[i].traffic_class & 7u) << 9 | bottom << 8 | labels[i].ttl);
  }
  Set16(bytes, 2, InternetChecksum(extension));
  return extension;
}

}  // namespace

Bytes BuildIcmpError(IcmpError kind, uint16_t mtu, const Address& source, uint8_t ttl,
                     const Quote& quote, const Header& header, ByteView packet, uint64_t random) {
  const bool v4 = header.version() == 4;
  // RFC 4884 4.6 extends time exceeded and destination unreachable, not IPv6's packet too big.
  const bool extended = !quote.labels.empty() && (v4 || kind != IcmpError::kTooBig);
  Bytes extension = extended ? MplsExtension(quote.labels) : Bytes();
  // IP header, 8 bytes of ICMP, and the extension share what is allowed in all.
  size_t room = (v4 ? 576 - 20 : 1280 - 40) - 8 - extension.size();
  if (extended) room = quote.legacy_extension ? kSmallestExtendedQuote : room / 8 * 8;
  Bytes quoted = MakeQuote(quote, header, packet, room, random);

  Bytes body(4);
  if (extended) {
    size_t unit = v4 ? 4 : 8;
    size_t padded = std::max(kSmallestExtendedQuote, (quoted.size() + unit - 1) / unit * unit);
    quoted.resize(padded);
    if (!quote.legacy_extension) body[v4 ? 1 : 0] = static_cast<uint8_t>(padded / unit);
  }
  if (kind == IcmpError::kTooBig) {
    if (v4) {
      Set16(absl::MakeSpan(body), 2, mtu);
    } else {
      Set32(absl::MakeSpan(body), 0, mtu);
    }
  }
  body.insert(body.end(), quoted.begin(), quoted.end());
  body.insert(body.end(), extension.begin(), extension.end());

  IpFields ip{.source = source, .destination = header.source, .ttl = ttl};
  ip.traffic_class = 0xc0;  // internetwork control (RFC 1812 4.3.2.5)
  switch (kind) {
    case IcmpError::kTimeExceeded:
      return BuildIcmp(ip, v4 ? 11 : 3, 0, body);
    case IcmpError::kTooBig:
      return v4 ? BuildIcmp(ip, 3, 4, body) : BuildIcmp(ip, 2, 0, body);
    case IcmpError::kPortUnreachable:
      return v4 ? BuildIcmp(ip, 3, 3, body) : BuildIcmp(ip, 1, 4, body);
  }
  return {};
}

Bytes BuildEchoReply(const Header& header, ByteView packet, uint8_t ttl) {
  IpFields ip{.source = header.destination, .destination = header.source, .ttl = ttl};
  ip.traffic_class = header.traffic_class;
  ip.identification = header.identification;
  ByteView body =
      packet.subspan(header.transport_at + 4, header.total_bytes - header.transport_at - 4);
  return BuildIcmp(ip, header.version() == 4 ? 0 : 129, 0, body);
}

}  // namespace assay::pathsim
