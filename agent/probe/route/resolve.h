// Names to addresses, within the probe's limits, and past the guard.
#ifndef ASSAY_AGENT_PROBE_ROUTE_RESOLVE_H_
#define ASSAY_AGENT_PROBE_ROUTE_RESOLVE_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/probe/probe.h"
#include "agent/probe/route/icmp_socket.h"

namespace assay::agent::route {

struct ResolvedTarget {
  SocketAddress address;  // port 0
  std::string numeric;    // "192.0.2.1", "fe80::1%eth0"
};

// The first address of `host` in the family, asked of the system's resolver, which may block: it is
// left behind when the probe is cancelled or monotonic deadline_ns comes.
// NOT_FOUND if the name has no such address, CANCELLED, DEADLINE_EXCEEDED, or the guard's
// PERMISSION_DENIED for the address.
absl::StatusOr<ResolvedTarget> ResolveTarget(const std::string& host, v1::AddressFamily family,
                                             const ProbeRequest& request,
                                             const ProbeControl& control, int64_t deadline_ns);

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_RESOLVE_H_
