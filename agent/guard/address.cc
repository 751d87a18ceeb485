#include "agent/guard/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace assay::guard {
namespace {

constexpr std::array<uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<uint8_t, 12> kNat64Prefix = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

bool StartsWith(const IpAddress& address, const std::array<uint8_t, 12>& prefix) {
  return address.v6 && std::equal(prefix.begin(), prefix.end(), address.bytes.begin());
}

IpAddress LastFourBytes(const IpAddress& address) {
  IpAddress v4;
  std::copy(address.bytes.begin() + 12, address.bytes.end(), v4.bytes.begin());
  return v4;
}

// As written: a mapped address stays an IPv6 one.
std::optional<IpAddress> ParseLiteral(absl::string_view text) {
  std::string copy(text);
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  IpAddress address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  address.bytes = {};
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  address.v6 = true;
  return address;
}

// The first `length` bits of an address, the rest zero.
IpAddress Masked(IpAddress address, int length) {
  for (int i = 0; i < 16; ++i) {
    int kept = std::clamp(length - 8 * i, 0, 8);
    address.bytes[i] &= static_cast<uint8_t>(0xff00 >> kept);
  }
  return address;
}

}  // namespace

std::optional<IpAddress> ParseIpAddress(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "[") && !absl::ConsumeSuffix(&text, "]")) return std::nullopt;
  size_t zone = text.find('%');
  if (zone != absl::string_view::npos) {
    if (zone + 1 == text.size()) return std::nullopt;
    text = text.substr(0, zone);
  }
  std::optional<IpAddress> address = ParseLiteral(text);
  if (!address.has_value()) return std::nullopt;
  if (zone != absl::string_view::npos && !address->v6) return std::nullopt;
  return StartsWith(*address, kMappedPrefix) ? LastFourBytes(*address) : *address;
}

std::string ToString(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), text, sizeof text);
}

std::optional<IpAddress> EmbeddedIpv4(const IpAddress& address) {
  if (!StartsWith(address, kNat64Prefix)) return std::nullopt;
  return LastFourBytes(address);
}

bool Cidr::Contains(const IpAddress& address) const {
  return address.v6 == network.v6 && Masked(address, length) == network;
}

bool Cidr::Contains(const Cidr& other) const {
  return other.length >= length && Contains(other.network);
}

ParsedCidr ParseCidr(absl::string_view text) {
  ParsedCidr parsed;
  size_t slash = text.find('/');
  std::optional<IpAddress> address = ParseLiteral(text.substr(0, slash));
  if (!address.has_value()) return parsed;
  const int widest = address->v6 ? 128 : 32;
  int length = widest;
  if (slash != absl::string_view::npos) {
    absl::string_view digits = text.substr(slash + 1);
    bool plain = !digits.empty() && digits.size() <= 3 &&
                 std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
    if (!plain || !absl::SimpleAtoi(digits, &length) || length > widest) return parsed;
  }
  IpAddress network = Masked(*address, length);
  parsed.problem = network == *address ? CidrProblem::kNone : CidrProblem::kHostBits;
  if (length >= 96 && StartsWith(network, kMappedPrefix)) {
    network = LastFourBytes(network);
    length -= 96;
  }
  parsed.cidr = {network, length};
  return parsed;
}

std::string ToString(const Cidr& cidr) {
  return absl::StrCat(ToString(cidr.network), "/", cidr.length);
}

}  // namespace assay::guard
