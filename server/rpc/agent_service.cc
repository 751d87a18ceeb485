#include "server/rpc/agent_service.h"

#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "server/rpc/caller.h"
#include "server/rpc/session_reactor.h"
#include "server/rpc/unary.h"

namespace assay::rpc {
namespace {

// The caller, if it is an agent.
absl::StatusOr<store::CertificateRecord> AgentOf(const grpc::ServerContextBase& context,
                                                 const dispatch::Access& access) {
  ASSAY_ASSIGN_OR_RETURN(store::CertificateRecord caller, CallerOf(context, access));
  if (caller.agent_id.empty()) {
    return Error(absl::StatusCode::kPermissionDenied, "identity.agents_only",
                 {{"subject", caller.subject.name}});
  }
  return caller;
}

}  // namespace

grpc::ServerUnaryReactor* EnrolmentService::Enrol(grpc::CallbackServerContext* context,
                                                  const v1::EnrolRequest* request,
                                                  v1::EnrolResponse* response) {
  return RunUnary(context, pool_, [this, request, response]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(*response, access_->Enrol(*request));
    if (!response->agent_id().empty()) {
      // The place has a new agent; the one it had is revoked, and its session must not go on.
      hub_->CloseSubject({response->subject_kind(), response->subject(), v1::ROLE_UNSPECIFIED},
                         Error(absl::StatusCode::kUnauthenticated, "identity.certificate_revoked",
                               {{"subject", response->subject()}, {"reason", "superseded"}}));
    }
    return absl::OkStatus();
  });
}

grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* AgentService::Session(
    grpc::CallbackServerContext* context) {
  return StartSession(AgentOf(*context, *parts_.access), context->peer(), parts_);
}

grpc::ServerUnaryReactor* AgentService::Renew(grpc::CallbackServerContext* context,
                                              const v1::RenewRequest* request,
                                              v1::RenewResponse* response) {
  return RunUnary(context, parts_.pool, [this, context, request, response]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(store::CertificateRecord caller, AgentOf(*context, *parts_.access));
    ASSAY_ASSIGN_OR_RETURN(*response, parts_.access->Renew(caller, request->csr_der()));
    return absl::OkStatus();
  });
}

}  // namespace assay::rpc
