// What all kinds of probes have, by reflection: a new kind needs no code here.
#ifndef ASSAY_AGENT_SESSION_PROBE_FIELDS_H_
#define ASSAY_AGENT_SESSION_PROBE_FIELDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"

namespace assay::session {

// The name of its kind ("icmp"), "" for none.
std::string KindOf(const v1::Probe& probe);
// The host to probe; "" where the kind has no target, or it is not set.
std::string TargetOf(const v1::Probe& probe);
// Whether the kind probes a host at all.
bool HasTarget(const v1::Probe& probe);
void SetTarget(v1::Probe& probe, absl::string_view target);

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_PROBE_FIELDS_H_
