// Which HTTP proxy a connection goes through: one rule for gRPC's channels and for our own
// dialling.
#ifndef ASSAY_COMMON_TLS_PROXY_H_
#define ASSAY_COMMON_TLS_PROXY_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/tls/dial.h"

namespace assay::tls {

struct Proxy {
  HostPort address;
  std::string user_info;  // "user:password", percent-decoded; empty: none. Secret.
  std::string variable;   // the environment variable that named it, for messages
  // Value of the Proxy-Authorization header; empty: none. Secret too.
  std::string Authorization() const;
};

// Value of an environment variable; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment ProcessEnvironment();

// The proxy to dial `target` through, or nullopt for none.
//
// The first of grpc_proxy, https_proxy, HTTPS_PROXY, http_proxy that is set names it (gRPC 1.51's
// order, with curl's upper-case name added); set and empty means none. "http://[user:password@]
// host[:port]", port 80 where it is missing, scheme optional. INVALID_ARGUMENT for anything else,
// such as socks5:// or https://, which gRPC would silently ignore.
//
// None for loopback, and for what the first of no_grpc_proxy, no_proxy, NO_PROXY lists: "*", names
// that the host ends in (gRPC's rule), addresses, and networks such as 10.0.0.0/8.
absl::StatusOr<std::optional<Proxy>> ProxyFor(const HostPort& target,
                                              const Environment& environment);

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_PROXY_H_
