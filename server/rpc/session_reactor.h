// One agent's stream.
//
//   reading:  Hello -> (Heartbeat | Progress | TaskResult)*   one read in flight; the next begins
//   when
//             fewer than kMaxResultsInFlight results wait for their commit
//   writing:  a queue bounded in bytes, one write in flight; overflow ends the session
//             (RESOURCE_EXHAUSTED): the agent comes back and nothing is lost
//   ending:   Close() or the peer -> last write done -> one Finish -> OnDone -> destroyed
#ifndef ASSAY_SERVER_RPC_SESSION_REACTOR_H_
#define ASSAY_SERVER_RPC_SESSION_REACTOR_H_

#include <grpcpp/support/server_callback.h>

#include <string>

#include "absl/status/statusor.h"
#include "assay/v1/agent.pb.h"
#include "server/rpc/agent_service.h"

namespace assay::rpc {

// `caller` is an error where the session is not allowed: it ends at once.
grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* StartSession(
    const absl::StatusOr<store::CertificateRecord>& caller, const std::string& peer,
    const SessionParts& parts);

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_SESSION_REACTOR_H_
