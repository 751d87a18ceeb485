#include "agent/probe/probe.h"
#include "agent/probe/route/route_probes.h"
#include "agent/probe/service/service_probes.h"

namespace assay::agent {

std::vector<std::unique_ptr<Probe>> AllProbes() {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(MakeIcmpProbe());
  probes.push_back(MakeTcpProbe());
  probes.push_back(MakeHttpProbe());
  return probes;
}

}  // namespace assay::agent
