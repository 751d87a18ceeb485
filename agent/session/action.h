// What the state machine wants done. The driver does it, in order.
#ifndef ASSAY_AGENT_SESSION_ACTION_H_
#define ASSAY_AGENT_SESSION_ACTION_H_

#include <variant>

#include "absl/status/status.h"
#include "agent/spool/task_key.h"
#include "assay/v1/agent.pb.h"

namespace assay::session {

using spool::TaskKey;

// Begin the probe in a thread of its own; answer with OnProbeDone(), always.
struct StartProbe {
  v1::Assignment assignment;
};
// Tell it to stop; OnProbeDone() still comes.
struct CancelProbe {
  TaskKey key;
};
// A new stream on a new connection. OnStreamEnded() comes exactly once for it.
struct OpenStream {};
// Nothing more will be written: half-close, once the write under way is done.
struct CloseStream {};
// Cut it off.
struct AbortStream {};
// A stream ended before its Welcome: find out why and tell people, if the reason is a new one.
struct ExplainFailure {
  absl::Status status;
};
// The session is open.
struct Connected {};
// Nothing will follow. OK after Stop(); otherwise the coordinator does not allow this agent.
struct Finish {
  absl::Status status;
};

using Action = std::variant<StartProbe, CancelProbe, OpenStream, CloseStream, AbortStream,
                            ExplainFailure, Connected, Finish>;

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_ACTION_H_
