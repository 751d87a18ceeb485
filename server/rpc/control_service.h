// ControlService: for people and tools. Checks the caller's role, then calls the plain classes.
#ifndef ASSAY_SERVER_RPC_CONTROL_SERVICE_H_
#define ASSAY_SERVER_RPC_CONTROL_SERVICE_H_

#include "assay/v1/control.grpc.pb.h"
#include "common/clock/clock.h"
#include "server/dispatch/access.h"
#include "server/dispatch/agent_hub.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/run_book.h"
#include "server/dispatch/worker_pool.h"

namespace assay::rpc {

class ControlService final : public v1::ControlService::CallbackService {
 public:
  struct Parts {
    store::Store* store;
    const Clock* clock;
    dispatch::Access* access;
    dispatch::AgentHub* hub;
    dispatch::Dispatcher* dispatcher;
    dispatch::RunBook* runs;
    dispatch::WorkerPool* pool;
  };
  explicit ControlService(const Parts& parts) : parts_(parts) {}

  using Context = grpc::CallbackServerContext;
  grpc::ServerUnaryReactor* Apply(Context*, const v1::ApplyRequest*, v1::ApplyResponse*) override;
  grpc::ServerUnaryReactor* GetDocument(Context*, const v1::GetDocumentRequest*,
                                        v1::Document*) override;
  grpc::ServerUnaryReactor* CreateToken(Context*, const v1::CreateTokenRequest*,
                                        v1::CreateTokenResponse*) override;
  grpc::ServerUnaryReactor* ListAgents(Context*, const v1::ListAgentsRequest*,
                                       v1::ListAgentsResponse*) override;
  grpc::ServerUnaryReactor* Revoke(Context*, const v1::RevokeRequest*,
                                   v1::RevokeResponse*) override;
  grpc::ServerUnaryReactor* StartRun(Context*, const v1::StartRunRequest*, v1::Run*) override;
  grpc::ServerUnaryReactor* ListRuns(Context*, const v1::ListRunsRequest*,
                                     v1::ListRunsResponse*) override;
  grpc::ServerUnaryReactor* GetRun(Context*, const v1::GetRunRequest*,
                                   v1::GetRunResponse*) override;
  grpc::ServerWriteReactor<v1::RunProgress>* WatchRun(Context*, const v1::GetRunRequest*) override;
  grpc::ServerUnaryReactor* CancelRun(Context*, const v1::GetRunRequest*, v1::Run*) override;
  grpc::ServerUnaryReactor* ListResults(Context*, const v1::ListResultsRequest*,
                                        v1::ListResultsResponse*) override;
  grpc::ServerUnaryReactor* GetResult(Context*, const v1::GetResultRequest*,
                                      v1::StoredResult*) override;
  grpc::ServerUnaryReactor* GetVerdict(Context*, const v1::GetVerdictRequest*,
                                       v1::Verdict*) override;
  grpc::ServerUnaryReactor* WhoAmI(Context*, const v1::WhoAmIRequest*,
                                   v1::WhoAmIResponse*) override;

 private:
  // Answers `call(caller)` if the caller has the role, from the worker pool.
  template <typename Response, typename Call>
  grpc::ServerUnaryReactor* Answer(Context* context, v1::Role needed, Response* response,
                                   Call call);

  const Parts parts_;
};

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_CONTROL_SERVICE_H_
