#include "tests/pathsim/packet/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace assay::pathsim {

Address AddressFromBytes(absl::Span<const uint8_t> bytes) {
  Address address;
  address.version = bytes.size() == 4 ? 4 : 6;
  std::copy_n(bytes.begin(), std::min(bytes.size(), address.bytes.size()), address.bytes.begin());
  return address;
}

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  std::string copy(text);
  Address address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.version = 6;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no address: write 192.0.2.1 or 2001:db8::1"));
}

std::string AddressText(const Address& address) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(address.version == 4 ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof(text));
  return text;
}

bool IsMulticast(const Address& address) {
  return address.version == 4 ? address.bytes[0] >> 4 == 0xe : address.bytes[0] == 0xff;
}

bool IsLinkLocal(const Address& address) {
  if (address.version == 4) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

bool IsOneHost(const Address& address) {
  if (IsMulticast(address)) return false;
  if (address.version == 4) {
    // 0.0.0.0/8, 127.0.0.0/8 and 240.0.0.0/4, which holds the broadcast address.
    return address.bytes[0] != 0 && address.bytes[0] != 127 && address.bytes[0] < 240;
  }
  return !std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](uint8_t byte) {
    return byte == 0;
  }) || address.bytes[15] > 1;  // not :: and not ::1
}

}  // namespace assay::pathsim
