// The agents as people see them: what is stored of each, and what is known of those connected.
#ifndef ASSAY_SERVER_DISPATCH_AGENT_LIST_H_
#define ASSAY_SERVER_DISPATCH_AGENT_LIST_H_

#include "absl/status/statusor.h"
#include "assay/v1/control.pb.h"
#include "server/dispatch/agent_hub.h"
#include "server/dispatch/dispatcher.h"
#include "server/store/store.h"

namespace assay::dispatch {

// An agent whose clock is certainly off by more than this is warned of.
inline constexpr absl::Duration kClockWarning = absl::Seconds(5);

// Whether the estimate says so with certainty.
bool ClockIsOff(const v1::ClockEstimate& clock);

absl::StatusOr<v1::ListAgentsResponse> ListAgents(store::Store& store, const AgentHub& hub,
                                                  const Dispatcher& dispatcher);

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_AGENT_LIST_H_
