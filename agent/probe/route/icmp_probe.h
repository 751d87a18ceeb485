// The echo probe: one target through the engine. See route_probes.h.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ICMP_PROBE_H_
#define ASSAY_AGENT_PROBE_ROUTE_ICMP_PROBE_H_

#include "absl/status/statusor.h"
#include "agent/probe/probe.h"
#include "agent/probe/route/icmp_socket.h"

namespace assay::agent::route {

class IcmpProbe : public Probe {
 public:
  explicit IcmpProbe(SocketPreference preference = SocketPreference::kAuto)
      : preference_(preference) {}

  absl::string_view kind() const override { return "icmp"; }
  v1::Capability Supported() const override;
  v1::Result Run(const ProbeRequest& request, const ProbeControl& control) override;

 private:
  SocketPreference preference_;
};

// The parameters with their defaults filled in. INVALID_ARGUMENT for one that is out of range.
absl::StatusOr<v1::IcmpProbe> WithDefaults(v1::IcmpProbe parameters);

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_ICMP_PROBE_H_
