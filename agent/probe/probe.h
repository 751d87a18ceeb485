// One interface for everything an agent can measure, and the table of what this agent has.
#ifndef ASSAY_AGENT_PROBE_PROBE_H_
#define ASSAY_AGENT_PROBE_PROBE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/guard/guard.h"
#include "assay/v1/agent.pb.h"
#include "assay/v1/model.pb.h"
#include "assay/v1/result.pb.h"

namespace assay::agent {

struct ProbeRequest {
  v1::Probe probe;  // defaults filled in, target set
  // What may be probed: the guard has already been asked about the target as written; a probe asks
  // again about every address it resolves, and then probes that very address.
  const guard::Guard* guard = nullptr;
  std::vector<std::string> server_addresses;
  absl::Duration time_limit;
};

// Asked and told while a probe runs, from the probe's thread.
struct ProbeControl {
  // Becomes true when the probe must stop soon (within about 100 ms).
  const std::atomic<bool>* cancelled = nullptr;
  // May be empty. Fraction done, 0 to 1.
  std::function<void(double)> progress;
};

// A kind of measurement. Stateless; Run may be called from several threads at once.
class Probe {
 public:
  virtual ~Probe() = default;
  // "icmp": the oneof field's name in assay.v1.Probe.
  virtual absl::string_view kind() const = 0;
  // Whether it can work on this host, and why not.
  virtual v1::Capability Supported() const = 0;
  // Measures. Never fails: what went wrong is the result's outcome and reason. A cancelled or
  // overdue probe that has samples gives them marked MARK_TRUNCATED; one that has none is
  // OUTCOME_FAILED.
  virtual v1::Result Run(const ProbeRequest& request, const ProbeControl& control) = 0;
};

// Every probe this build has, in a fixed order.
std::vector<std::unique_ptr<Probe>> AllProbes();

}  // namespace assay::agent

#endif  // ASSAY_AGENT_PROBE_PROBE_H_
