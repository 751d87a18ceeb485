// EnrolmentService and AgentService: what agents talk to.
#ifndef ASSAY_SERVER_RPC_AGENT_SERVICE_H_
#define ASSAY_SERVER_RPC_AGENT_SERVICE_H_

#include "assay/v1/agent.grpc.pb.h"
#include "common/clock/clock.h"
#include "server/dispatch/access.h"
#include "server/dispatch/agent_hub.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/intake.h"
#include "server/dispatch/worker_pool.h"

namespace assay::rpc {

class EnrolmentService final : public v1::EnrolmentService::CallbackService {
 public:
  EnrolmentService(dispatch::Access* access, dispatch::AgentHub* hub, dispatch::WorkerPool* pool)
      : access_(access), hub_(hub), pool_(pool) {}

  grpc::ServerUnaryReactor* Enrol(grpc::CallbackServerContext* context,
                                  const v1::EnrolRequest* request,
                                  v1::EnrolResponse* response) override;

 private:
  dispatch::Access* const access_;
  dispatch::AgentHub* const hub_;
  dispatch::WorkerPool* const pool_;
};

// What an agent's session needs.
struct SessionParts {
  store::Store* store;
  const Clock* clock;
  dispatch::Access* access;
  dispatch::AgentHub* hub;
  dispatch::Dispatcher* dispatcher;
  dispatch::Intake* intake;
  dispatch::WorkerPool* pool;
  absl::Duration heartbeat_interval;
};

class AgentService final : public v1::AgentService::CallbackService {
 public:
  explicit AgentService(const SessionParts& parts) : parts_(parts) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* Session(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context,
                                  const v1::RenewRequest* request,
                                  v1::RenewResponse* response) override;

 private:
  const SessionParts parts_;
};

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_AGENT_SERVICE_H_
