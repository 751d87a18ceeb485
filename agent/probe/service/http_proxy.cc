#include "agent/probe/service/http_proxy.h"

#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "agent/guard/address.h"

namespace assay::agent::service {
namespace {

std::string FirstSet(const EnvironmentLookup& environment,
                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::optional<std::string> value = environment(name);
    if (value.has_value() && !value->empty()) return *value;
  }
  return "";
}

// An entry of NO_PROXY: a domain with everything below it, an address, or a prefix.
bool Covers(absl::string_view entry, absl::string_view host) {
  if (std::optional<guard::IpAddress> address = guard::ParseIpAddress(host)) {
    guard::ParsedCidr prefix =
        guard::ParseCidr(absl::StripSuffix(absl::StripPrefix(entry, "["), "]"));
    return prefix.problem != guard::CidrProblem::kSyntax && prefix.cidr.Contains(*address);
  }
  entry = absl::StripSuffix(absl::StripPrefix(entry, "."), ".");
  host = absl::StripSuffix(host, ".");
  if (entry.empty() || !absl::EndsWithIgnoreCase(host, entry)) return false;
  return host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.';
}

}  // namespace

Proxy ChooseProxy(bool secure, absl::string_view host, const EnvironmentLookup& environment) {
  Proxy proxy;
  std::string none = FirstSet(environment, {"no_proxy", "NO_PROXY"});
  for (absl::string_view entry : absl::StrSplit(none, absl::ByAnyChar(", "), absl::SkipEmpty())) {
    if (entry == "*" || Covers(entry, host)) return proxy;
  }
  // HTTP_PROXY in capitals can be set by a request's header in CGI, so that curl ignores it.
  proxy.url = secure
                  ? FirstSet(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                  : FirstSet(environment, {"http_proxy", "all_proxy", "ALL_PROXY"});
  if (proxy.url.empty()) return proxy;
  if (!absl::StrContains(proxy.url, "://")) proxy.url = absl::StrCat("http://", proxy.url);
  size_t authority = proxy.url.find("://") + 3;
  std::string scheme = absl::AsciiStrToLower(proxy.url.substr(0, authority));
  proxy.resolves_names = scheme != "socks4://" && scheme != "socks5://";
  size_t end = proxy.url.find_first_of("/?#", authority);
  std::string rest = proxy.url.substr(authority, end == std::string::npos ? end : end - authority);
  size_t user = rest.rfind('@');
  proxy.shown = absl::StrCat(scheme, user == std::string::npos ? rest : rest.substr(user + 1));
  return proxy;
}

}  // namespace assay::agent::service
