// What a raw ICMP socket hands to us: the kernel drops everything else, so that other pings on this
// host neither wake the agent nor fill its buffer.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ICMP_FILTER_H_
#define ASSAY_AGENT_PROBE_ROUTE_ICMP_FILTER_H_

#include <linux/filter.h>

#include <vector>

#include "agent/probe/route/icmp_packet.h"

namespace assay::agent::route {

// Classic BPF: echo replies with `id`, and errors that quote an echo request with `id`. A packet
// too short to tell is dropped. IPv4 sockets see packets from the IP header, IPv6 from the ICMP
// header.
std::vector<sock_filter> EchoFilter(IpVersion version, Identifier id);

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_ICMP_FILTER_H_
