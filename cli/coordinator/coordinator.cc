#include "cli/coordinator/coordinator.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "assay/v1/control.grpc.pb.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/rpc/credentials.h"
#include "common/rpc/status.h"

namespace assay::cli {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(250);
constexpr absl::Duration kDiagnosisTimeout = absl::Seconds(10);

}  // namespace

struct Coordinator::Transport {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::ControlService::Stub> stub;
};

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Connect(const Context& context,
                                                                  absl::Duration timeout) {
  ASSAY_ASSIGN_OR_RETURN(
      std::shared_ptr<grpc::Channel> channel,
      rpc::MakeChannel(context.coordinator, context.identity.ca_pem, context.identity));
  Diagnosis diagnosis = [context, limit = std::min(timeout, kDiagnosisTimeout)] {
    return tls::Diagnose(context.coordinator, context.identity, limit);
  };
  return std::make_unique<Coordinator>(std::move(channel), context.coordinator.ToString(), timeout,
                                       std::move(diagnosis));
}

Coordinator::Coordinator(std::shared_ptr<grpc::Channel> channel, std::string name,
                         absl::Duration timeout, Diagnosis diagnosis)
    : transport_(std::make_unique<Transport>()),
      name_(std::move(name)),
      timeout_(timeout),
      diagnosis_(std::move(diagnosis)) {
  transport_->stub = v1::ControlService::NewStub(channel);
  transport_->channel = std::move(channel);
}

Coordinator::~Coordinator() = default;

absl::Status Coordinator::Explain(absl::Status status) const {
  bool unreachable = status.code() == absl::StatusCode::kUnavailable ||
                     status.code() == absl::StatusCode::kDeadlineExceeded;
  if (!unreachable || MessageOf(status).has_value()) return status;
  absl::Status reason = diagnosis_();
  if (!reason.ok()) {
    std::optional<v1::Message> message = MessageOf(reason);
    if (!message.has_value()) return absl::UnavailableError(reason.message());
    return ErrorFromMessage(absl::StatusCode::kUnavailable, *message);
  }
  if (status.code() == absl::StatusCode::kDeadlineExceeded) {
    return Error(absl::StatusCode::kUnavailable, "cli.no_answer",
                 {{"coordinator", name_}, {"timeout", absl::FormatDuration(timeout_)}});
  }
  return Error(absl::StatusCode::kUnavailable, "cli.unreachable",
               {{"coordinator", name_}, {"detail", std::string(status.message())}});
}

template <typename Method, typename Request, typename Response>
absl::StatusOr<Response> Coordinator::Call(Method method, const Request& request,
                                           Response response) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout_));
  grpc::Status status = ((*transport_->stub).*method)(&context, request, &response);
  if (!status.ok()) return Explain(rpc::FromGrpc(status));
  return response;
}

absl::StatusOr<v1::ApplyResponse> Coordinator::Apply(const v1::ApplyRequest& request) {
  return Call(&v1::ControlService::Stub::Apply, request, v1::ApplyResponse());
}

absl::StatusOr<v1::Document> Coordinator::GetDocument(const std::string& kind,
                                                      const std::string& name) {
  v1::GetDocumentRequest request;
  request.set_kind(kind);
  request.set_name(name);
  return Call(&v1::ControlService::Stub::GetDocument, request, v1::Document());
}

absl::StatusOr<v1::CreateTokenResponse> Coordinator::CreateToken(
    const v1::CreateTokenRequest& request) {
  return Call(&v1::ControlService::Stub::CreateToken, request, v1::CreateTokenResponse());
}

absl::StatusOr<v1::ListAgentsResponse> Coordinator::ListAgents() {
  return Call(&v1::ControlService::Stub::ListAgents, v1::ListAgentsRequest(),
              v1::ListAgentsResponse());
}

absl::StatusOr<v1::RevokeResponse> Coordinator::Revoke(const v1::RevokeRequest& request) {
  return Call(&v1::ControlService::Stub::Revoke, request, v1::RevokeResponse());
}

absl::StatusOr<v1::Run> Coordinator::StartRun(const std::string& plan) {
  v1::StartRunRequest request;
  request.set_plan(plan);
  return Call(&v1::ControlService::Stub::StartRun, request, v1::Run());
}

absl::StatusOr<v1::ListRunsResponse> Coordinator::ListRuns(const v1::ListRunsRequest& request) {
  return Call(&v1::ControlService::Stub::ListRuns, request, v1::ListRunsResponse());
}

absl::StatusOr<v1::GetRunResponse> Coordinator::GetRun(const std::string& run) {
  v1::GetRunRequest request;
  request.set_run(run);
  return Call(&v1::ControlService::Stub::GetRun, request, v1::GetRunResponse());
}

absl::StatusOr<v1::Run> Coordinator::CancelRun(const std::string& run) {
  v1::GetRunRequest request;
  request.set_run(run);
  return Call(&v1::ControlService::Stub::CancelRun, request, v1::Run());
}

absl::StatusOr<v1::ListResultsResponse> Coordinator::ListResults(
    const v1::ListResultsRequest& request) {
  return Call(&v1::ControlService::Stub::ListResults, request, v1::ListResultsResponse());
}

absl::StatusOr<v1::StoredResult> Coordinator::GetResult(int64_t id) {
  v1::GetResultRequest request;
  request.set_id(id);
  return Call(&v1::ControlService::Stub::GetResult, request, v1::StoredResult());
}

absl::StatusOr<v1::Verdict> Coordinator::GetVerdict(const std::string& server,
                                                    const std::string& run) {
  v1::GetVerdictRequest request;
  request.set_server(server);
  request.set_run(run);
  return Call(&v1::ControlService::Stub::GetVerdict, request, v1::Verdict());
}

absl::StatusOr<v1::WhoAmIResponse> Coordinator::WhoAmI() {
  return Call(&v1::ControlService::Stub::WhoAmI, v1::WhoAmIRequest(), v1::WhoAmIResponse());
}

// One completion queue, drained here: no thread, and a tick where nothing arrives. At most one
// operation is outstanding, so a tag need not say which one it is.
absl::Status Coordinator::WatchRun(const std::string& run,
                                   absl::FunctionRef<bool(const v1::RunProgress&)> on_progress,
                                   absl::FunctionRef<bool()> on_tick) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  v1::GetRunRequest request;
  request.set_run(run);
  enum class Step { kStarting, kReading, kFinishing };
  Step step = Step::kStarting;
  bool stopped = false;   // by on_progress or on_tick
  bool answered = false;  // something has been read
  bool too_late = false;
  const absl::Time first_answer_by = absl::Now() + timeout_;
  v1::RunProgress progress;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncReader<v1::RunProgress>> reader =
      transport_->stub->AsyncWatchRun(&context, request, &queue, &step);
  absl::Time next_tick = absl::Now() + kTick;
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    auto next = queue.AsyncNext(&tag, &ok, absl::ToChronoTime(next_tick));
    if (next == grpc::CompletionQueue::GOT_EVENT) {
      if (step == Step::kFinishing) break;
      if (step == Step::kReading && ok) {
        answered = true;
        if (!stopped && !on_progress(progress)) {
          stopped = true;
          context.TryCancel();
        }
      }
      if (ok) {
        step = Step::kReading;
        reader->Read(&progress, &step);
      } else {
        step = Step::kFinishing;
        reader->Finish(&status, &step);
      }
    }
    if (absl::Now() < next_tick) continue;
    next_tick = absl::Now() + kTick;
    if (!stopped && !on_tick()) {
      stopped = true;
      context.TryCancel();
    }
    if (!answered && !too_late && absl::Now() > first_answer_by) {
      too_late = true;
      context.TryCancel();
    }
  }
  queue.Shutdown();
  void* tag = nullptr;
  for (bool ok = false; queue.Next(&tag, &ok);) continue;
  if (stopped) return absl::CancelledError("stopped watching");
  if (too_late) return Explain(absl::DeadlineExceededError("no answer"));
  return Explain(rpc::FromGrpc(status));
}

}  // namespace assay::cli
