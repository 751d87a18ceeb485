// The probes of the route between a vantage and a server.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ROUTE_PROBES_H_
#define ASSAY_AGENT_PROBE_ROUTE_ROUTE_PROBES_H_

#include <memory>

#include "agent/probe/probe.h"

namespace assay::agent {

// "icmp": echo requests. Needs a datagram ICMP socket (net.ipv4.ping_group_range) or CAP_NET_RAW. A
// host that never answers is measured: 100 % loss. Only if this host could not send a single
// request is it OUTCOME_NOT_MEASURABLE.
std::unique_ptr<Probe> MakeIcmpProbe();

// "tcp": connects to a port. Needs nothing. Refused, timed out and unreachable are measured; only
// if this host could not start a single connect is it OUTCOME_NOT_MEASURABLE.
std::unique_ptr<Probe> MakeTcpProbe();

}  // namespace assay::agent

#endif  // ASSAY_AGENT_PROBE_ROUTE_ROUTE_PROBES_H_
