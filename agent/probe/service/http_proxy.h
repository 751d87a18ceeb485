// Which proxy the environment asks for, by the rules of the curl command (`man curl`, ENVIRONMENT).
#ifndef ASSAY_AGENT_PROBE_SERVICE_HTTP_PROXY_H_
#define ASSAY_AGENT_PROBE_SERVICE_HTTP_PROXY_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace assay::agent::service {

using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;

struct Proxy {
  std::string url;              // for curl, with user and password; empty: none
  std::string shown;            // without them
  bool resolves_names = false;  // socks4:// and socks5:// leave that to this host
};

Proxy ChooseProxy(bool secure, absl::string_view host, const EnvironmentLookup& environment);

}  // namespace assay::agent::service

#endif  // ASSAY_AGENT_PROBE_SERVICE_HTTP_PROXY_H_
