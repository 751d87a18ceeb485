#include "server/rpc/control_service.h"

#include <string>
#include <utility>

#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "common/build/version.h"
#include "core/evidence/derive.h"
#include "server/dispatch/agent_list.h"
#include "server/dispatch/document_book.h"
#include "server/rpc/caller.h"
#include "server/rpc/unary.h"
#include "server/rpc/watch_reactor.h"

namespace assay::rpc {

using store::CertificateRecord;

template <typename Response, typename Call>
grpc::ServerUnaryReactor* ControlService::Answer(Context* context, v1::Role needed,
                                                 Response* response, Call call) {
  return RunUnary(context, parts_.pool, [this, context, needed, response, call]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(CertificateRecord caller, CallerOf(*context, *parts_.access));
    ASSAY_RETURN_IF_ERROR(dispatch::Access::RequireRole(caller, needed));
    ASSAY_ASSIGN_OR_RETURN(*response, call(caller));
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* ControlService::Apply(Context* context, const v1::ApplyRequest* request,
                                                v1::ApplyResponse* response) {
  v1::Role needed = request->dry_run() ? v1::ROLE_VIEWER : v1::ROLE_OPERATOR;
  return Answer(context, needed, response, [this, request](const CertificateRecord&) {
    return dispatch::Apply(*parts_.store, *request);
  });
}

grpc::ServerUnaryReactor* ControlService::GetDocument(Context* context,
                                                      const v1::GetDocumentRequest* request,
                                                      v1::Document* response) {
  return Answer(context, v1::ROLE_VIEWER, response,
                [this, request](const CertificateRecord&) -> absl::StatusOr<v1::Document> {
                  absl::StatusOr<v1::Document> document =
                      parts_.store->GetDocument(request->kind(), request->name());
                  if (!absl::IsNotFound(document.status())) return document;
                  return Error(absl::StatusCode::kNotFound, "server.unknown_document",
                               {{"kind", request->kind()}, {"name", request->name()}});
                });
}

grpc::ServerUnaryReactor* ControlService::CreateToken(Context* context,
                                                      const v1::CreateTokenRequest* request,
                                                      v1::CreateTokenResponse* response) {
  return Answer(context, v1::ROLE_OPERATOR, response,
                [this, request](const CertificateRecord& caller) {
                  return parts_.access->CreateToken(*request, caller);
                });
}

grpc::ServerUnaryReactor* ControlService::ListAgents(Context* context, const v1::ListAgentsRequest*,
                                                     v1::ListAgentsResponse* response) {
  return Answer(context, v1::ROLE_VIEWER, response, [this](const CertificateRecord&) {
    return dispatch::ListAgents(*parts_.store, *parts_.hub, *parts_.dispatcher);
  });
}

grpc::ServerUnaryReactor* ControlService::Revoke(Context* context, const v1::RevokeRequest* request,
                                                 v1::RevokeResponse* response) {
  return Answer(
      context, v1::ROLE_ADMIN, response,
      [this, request](const CertificateRecord&) -> absl::StatusOr<v1::RevokeResponse> {
        store::Subject subject{request->subject_kind(), request->subject(), v1::ROLE_UNSPECIFIED};
        ASSAY_ASSIGN_OR_RETURN(uint32_t count, parts_.access->Revoke(subject, request->reason()));
        parts_.hub->CloseSubject(
            subject, Error(absl::StatusCode::kUnauthenticated, "identity.certificate_revoked",
                           {{"subject", request->subject()}, {"reason", request->reason()}}));
        v1::RevokeResponse response;
        response.set_certificates(count);
        return response;
      });
}

grpc::ServerUnaryReactor* ControlService::StartRun(Context* context,
                                                   const v1::StartRunRequest* request,
                                                   v1::Run* response) {
  return Answer(context, v1::ROLE_OPERATOR, response,
                [this, request](const CertificateRecord& caller) {
                  return parts_.runs->Start(request->plan(), caller.subject.name);
                });
}

grpc::ServerUnaryReactor* ControlService::ListRuns(Context* context,
                                                   const v1::ListRunsRequest* request,
                                                   v1::ListRunsResponse* response) {
  return Answer(context, v1::ROLE_VIEWER, response,
                [this, request](const CertificateRecord&) { return parts_.runs->List(*request); });
}

grpc::ServerUnaryReactor* ControlService::GetRun(Context* context, const v1::GetRunRequest* request,
                                                 v1::GetRunResponse* response) {
  return Answer(context, v1::ROLE_VIEWER, response, [this, request](const CertificateRecord&) {
    return parts_.runs->Get(request->run());
  });
}

grpc::ServerWriteReactor<v1::RunProgress>* ControlService::WatchRun(
    Context* context, const v1::GetRunRequest* request) {
  absl::StatusOr<CertificateRecord> caller = CallerOf(*context, *parts_.access);
  absl::Status allowed =
      caller.ok() ? dispatch::Access::RequireRole(*caller, v1::ROLE_VIEWER) : caller.status();
  return StartWatching(request->run(), allowed, parts_.dispatcher, parts_.runs, parts_.pool,
                       parts_.clock);
}

grpc::ServerUnaryReactor* ControlService::CancelRun(Context* context,
                                                    const v1::GetRunRequest* request,
                                                    v1::Run* response) {
  return Answer(context, v1::ROLE_OPERATOR, response,
                [this, request](const CertificateRecord& caller) {
                  return parts_.runs->Cancel(request->run(), caller.subject.name);
                });
}

grpc::ServerUnaryReactor* ControlService::ListResults(Context* context,
                                                      const v1::ListResultsRequest* request,
                                                      v1::ListResultsResponse* response) {
  return Answer(
      context, v1::ROLE_VIEWER, response,
      [this, request](const CertificateRecord&) -> absl::StatusOr<v1::ListResultsResponse> {
        store::ResultFilter filter;
        filter.run = request->run();
        filter.server = request->server();
        filter.vantage = request->vantage();
        filter.before_id = request->before_id();
        if (request->limit() > 0) filter.limit = std::min<uint32_t>(request->limit(), 1000);
        ASSAY_ASSIGN_OR_RETURN(std::vector<v1::StoredResult> results,
                               parts_.store->ListResults(filter));
        v1::ListResultsResponse response;
        for (v1::StoredResult& result : results) *response.add_results() = std::move(result);
        return response;
      });
}

grpc::ServerUnaryReactor* ControlService::GetResult(Context* context,
                                                    const v1::GetResultRequest* request,
                                                    v1::StoredResult* response) {
  return Answer(context, v1::ROLE_VIEWER, response,
                [this, request](const CertificateRecord&) -> absl::StatusOr<v1::StoredResult> {
                  absl::StatusOr<v1::StoredResult> result = parts_.store->GetResult(request->id());
                  if (absl::IsNotFound(result.status())) {
                    return Error(absl::StatusCode::kNotFound, "server.unknown_result",
                                 {{"id", std::to_string(request->id())}});
                  }
                  ASSAY_RETURN_IF_ERROR(result.status());
                  if (!result->result().evidence_zstd().empty()) {
                    absl::StatusOr<v1::Evidence> evidence =
                        evidence::Unpack(result->result().evidence_zstd());
                    if (evidence.ok()) *result->mutable_evidence() = *std::move(evidence);
                  }
                  return result;
                });
}

grpc::ServerUnaryReactor* ControlService::GetVerdict(Context* context,
                                                     const v1::GetVerdictRequest* request,
                                                     v1::Verdict* response) {
  return Answer(context, v1::ROLE_VIEWER, response, [this, request](const CertificateRecord&) {
    return parts_.runs->Evaluate(request->server(), request->run());
  });
}

grpc::ServerUnaryReactor* ControlService::WhoAmI(Context* context, const v1::WhoAmIRequest*,
                                                 v1::WhoAmIResponse* response) {
  return Answer(context, v1::ROLE_VIEWER, response,
                [this](const CertificateRecord& caller) -> absl::StatusOr<v1::WhoAmIResponse> {
                  v1::WhoAmIResponse who;
                  who.set_person(caller.subject.name);
                  who.set_role(caller.subject.role);
                  who.set_coordinator(parts_.access->coordinator_name());
                  who.set_version(kVersion);
                  *who.mutable_time() = ToProto(parts_.clock->Now());
                  *who.mutable_certificate_expires_at() = ToProto(caller.not_after);
                  return who;
                });
}

}  // namespace assay::rpc
