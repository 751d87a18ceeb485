// Numeric addresses and exact prefix arithmetic, for IPv4 and IPv6 alike.
#ifndef ASSAY_AGENT_GUARD_ADDRESS_H_
#define ASSAY_AGENT_GUARD_ADDRESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace assay::guard {

// An address without its zone. An IPv4-mapped IPv6 address (::ffff:0:0/96, RFC 4291 2.5.5.2) is the
// IPv4 address: that is what the kernel talks to.
struct IpAddress {
  bool v6 = false;
  std::array<uint8_t, 16> bytes{};  // the first 4 for IPv4, the rest zero

  bool operator==(const IpAddress&) const = default;
};

// Dotted quad or RFC 4291 text, in brackets or not, with a zone ("%eth0") or not. The shorthands of
// inet_aton ("127.1", "0x7f000001") are not addresses here.
std::optional<IpAddress> ParseIpAddress(absl::string_view text);
std::string ToString(const IpAddress& address);

// The IPv4 address inside a NAT64 address of the well-known prefix 64:ff9b::/96 (RFC 6052): a
// translator on the way sends the packets there.
std::optional<IpAddress> EmbeddedIpv4(const IpAddress& address);

struct Cidr {
  IpAddress network;
  int length = 0;  // 0 to 32, or 0 to 128

  bool operator==(const Cidr&) const = default;
  // Never across families: ::/0 is every IPv6 address and no IPv4 one.
  bool Contains(const IpAddress& address) const;
  bool Contains(const Cidr& other) const;
};

enum class CidrProblem { kNone, kSyntax, kHostBits };
struct ParsedCidr {
  CidrProblem problem = CidrProblem::kSyntax;
  Cidr cidr;  // where the problem is kHostBits: with the excess bits cleared
};
// "10.0.0.0/8", "2001:db8::/32", or an address alone (/32, /128). A prefix of /96 or longer inside
// ::ffff:0:0/96 is the IPv4 prefix.
ParsedCidr ParseCidr(absl::string_view text);
std::string ToString(const Cidr& cidr);

}  // namespace assay::guard

#endif  // ASSAY_AGENT_GUARD_ADDRESS_H_
