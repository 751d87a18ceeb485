// An IPv4 or IPv6 address as bytes.
#ifndef ASSAY_TESTS_PATHSIM_PACKET_ADDRESS_H_
#define ASSAY_TESTS_PATHSIM_PACKET_ADDRESS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace assay::pathsim {

struct Address {
  int version = 4;                  // 4 or 6
  std::array<uint8_t, 16> bytes{};  // an IPv4 address fills the first four, the rest is 0

  auto operator<=>(const Address&) const = default;
  absl::Span<const uint8_t> span() const { return {bytes.data(), version == 4 ? 4u : 16u}; }
};

// From the 4 or 16 bytes of a packet's field.
Address AddressFromBytes(absl::Span<const uint8_t> bytes);

// "192.0.2.1", "2001:db8::1". INVALID_ARGUMENT for anything else.
absl::StatusOr<Address> ParseAddress(absl::string_view text);
std::string AddressText(const Address& address);

// Whether an ICMP error may be sent to it (RFC 1122 3.2.2, RFC 4443 2.4): not unspecified,
// loopback, multicast, or broadcast.
bool IsOneHost(const Address& address);
// fe80::/10 and 169.254.0.0/16: never leaves a link.
bool IsLinkLocal(const Address& address);
bool IsMulticast(const Address& address);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PACKET_ADDRESS_H_
