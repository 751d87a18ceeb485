#include "common/tls/proxy.h"

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/message.h"
#include "common/base/percent.h"

namespace assay::tls {
namespace {

constexpr std::array kProxyVariables = {"grpc_proxy", "https_proxy", "HTTPS_PROXY", "http_proxy"};
constexpr std::array kNoProxyVariables = {"no_grpc_proxy", "no_proxy", "NO_PROXY"};

// An IPv4 or IPv6 address as bytes (4 or 16); empty where the text is neither.
std::string AddressBytes(absl::string_view text) {
  std::string name(text);
  unsigned char bytes[16];
  if (inet_pton(AF_INET, name.c_str(), bytes) == 1) {
    return std::string(reinterpret_cast<char*>(bytes), 4);
  }
  if (inet_pton(AF_INET6, name.c_str(), bytes) == 1) {
    return std::string(reinterpret_cast<char*>(bytes), 16);
  }
  return "";
}

bool IsLoopback(absl::string_view host) {
  if (absl::EqualsIgnoreCase(host, "localhost")) return true;
  std::string bytes = AddressBytes(host);
  return (bytes.size() == 4 && bytes[0] == 127) || bytes == AddressBytes("::1");
}

// `entry` is "network/bits" and holds `host`.
bool NetworkHolds(absl::string_view entry, absl::string_view host) {
  std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(entry, '/');
  std::string network = AddressBytes(parts.first);
  std::string address = AddressBytes(host);
  uint32_t bits = 0;
  if (network.empty() || network.size() != address.size() ||
      !absl::SimpleAtoi(parts.second, &bits) || bits > 8 * network.size()) {
    return false;
  }
  for (size_t i = 0; i < network.size() && bits > 0; ++i) {
    const uint32_t used = bits < 8 ? bits : 8;
    const auto mask = static_cast<unsigned char>(0xff << (8 - used));
    if (((network[i] ^ address[i]) & mask) != 0) return false;
    bits -= used;
  }
  return true;
}

bool Exempt(absl::string_view list, absl::string_view host) {
  for (absl::string_view entry : absl::StrSplit(list, ',')) {
    entry = absl::StripAsciiWhitespace(entry);
    if (entry.empty()) continue;
    if (entry == "*" || absl::EndsWithIgnoreCase(host, entry) || NetworkHolds(entry, host)) {
      return true;
    }
    if (entry.front() == '.' && absl::EqualsIgnoreCase(host, entry.substr(1))) return true;
  }
  return false;
}

// Never quotes the value: it may hold a password.
absl::Status BadProxy(absl::string_view variable) {
  return Error(absl::StatusCode::kInvalidArgument, "identity.bad_proxy",
               {{"variable", std::string(variable)}});
}

absl::StatusOr<Proxy> ParseProxy(absl::string_view variable, absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  if (absl::StartsWithIgnoreCase(value, "http://")) {
    value.remove_prefix(7);
  } else if (absl::StrContains(value, "://")) {
    return BadProxy(variable);
  }
  Proxy proxy;
  proxy.variable = std::string(variable);
  value = value.substr(0, value.find('/'));
  if (size_t at = value.rfind('@'); at != absl::string_view::npos) {
    proxy.user_info = PercentDecode(value.substr(0, at));
    value.remove_prefix(at + 1);
  }
  absl::StatusOr<HostPort> address = ParseHostPort(value, 80);
  if (!address.ok()) return BadProxy(variable);
  proxy.address = *std::move(address);
  return proxy;
}

}  // namespace

std::string Proxy::Authorization() const {
  return user_info.empty() ? "" : absl::StrCat("Basic ", absl::Base64Escape(user_info));
}

Environment ProcessEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

absl::StatusOr<std::optional<Proxy>> ProxyFor(const HostPort& target,
                                              const Environment& environment) {
  if (IsLoopback(target.host)) return std::nullopt;
  for (const char* variable : kProxyVariables) {
    std::optional<std::string> value = environment(variable);
    if (!value.has_value()) continue;
    if (value->empty()) return std::nullopt;
    for (const char* list : kNoProxyVariables) {
      std::optional<std::string> exempt = environment(list);
      if (!exempt.has_value()) continue;
      if (Exempt(*exempt, target.host)) return std::nullopt;
      break;
    }
    absl::StatusOr<Proxy> proxy = ParseProxy(variable, *value);
    if (!proxy.ok()) return proxy.status();
    return std::optional<Proxy>(*std::move(proxy));
  }
  return std::nullopt;
}

}  // namespace assay::tls
