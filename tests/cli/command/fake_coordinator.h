// A coordinator that answers from memory, reached in the same process: commands speak real gRPC to
// it, errors with their messages included.
#ifndef ASSAY_TESTS_CLI_COMMAND_FAKE_COORDINATOR_H_
#define ASSAY_TESTS_CLI_COMMAND_FAKE_COORDINATOR_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "assay/v1/control.grpc.pb.h"
#include "cli/command/app.h"
#include "cli/command/session.h"
#include "cli/coordinator/coordinator.h"
#include "common/clock/clock.h"
#include "common/rpc/status.h"

namespace assay::cli {

class FakeCoordinator : public v1::ControlService::Service {
 public:
  // One connection to WatchRun: what it sends, then how it ends.
  struct Watch {
    std::vector<v1::RunProgress> messages;
    absl::Status end;
  };

  FakeCoordinator() {
    grpc::ServerBuilder builder;
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeCoordinator() override { server_->Shutdown(); }

  std::unique_ptr<Coordinator> Connect(absl::Duration timeout) {
    return std::make_unique<Coordinator>(server_->InProcessChannel({}), "fake:7443", timeout,
                                         [] { return absl::OkStatus(); });
  }

  absl::Status failure;  // of every call, where it is not OK
  v1::ApplyRequest applied;
  v1::ApplyResponse apply_response;
  v1::CreateTokenRequest token_request;
  v1::ListRunsResponse runs;
  v1::ListAgentsResponse agents;
  v1::Verdict verdict;
  v1::GetRunResponse run;
  std::deque<Watch> watches;
  int watched = 0;
  int results_asked = 0;

  grpc::Status Apply(grpc::ServerContext*, const v1::ApplyRequest* request,
                     v1::ApplyResponse* response) override {
    applied = *request;
    *response = apply_response;
    return rpc::ToGrpc(failure);
  }
  grpc::Status CreateToken(grpc::ServerContext*, const v1::CreateTokenRequest* request,
                           v1::CreateTokenResponse* response) override {
    token_request = *request;
    response->set_join_command("assay-agent join here");
    return rpc::ToGrpc(failure);
  }
  grpc::Status ListAgents(grpc::ServerContext*, const v1::ListAgentsRequest*,
                          v1::ListAgentsResponse* response) override {
    *response = agents;
    return rpc::ToGrpc(failure);
  }
  grpc::Status ListRuns(grpc::ServerContext*, const v1::ListRunsRequest*,
                        v1::ListRunsResponse* response) override {
    *response = runs;
    return rpc::ToGrpc(failure);
  }
  grpc::Status GetVerdict(grpc::ServerContext*, const v1::GetVerdictRequest*,
                          v1::Verdict* response) override {
    *response = verdict;
    return rpc::ToGrpc(failure);
  }
  grpc::Status GetRun(grpc::ServerContext*, const v1::GetRunRequest*,
                      v1::GetRunResponse* response) override {
    *response = run;
    return rpc::ToGrpc(failure);
  }
  grpc::Status GetResult(grpc::ServerContext*, const v1::GetResultRequest* request,
                         v1::StoredResult* response) override {
    ++results_asked;
    response->set_id(request->id());
    response->mutable_result()->set_outcome(v1::OUTCOME_OK);
    v1::Metric* metric = response->add_metrics();
    metric->set_name("icmp.loss_ratio");
    metric->mutable_proportion()->set_trials(100);
    return grpc::Status::OK;
  }
  grpc::Status WatchRun(grpc::ServerContext*, const v1::GetRunRequest*,
                        grpc::ServerWriter<v1::RunProgress>* writer) override {
    ++watched;
    if (watches.empty()) return rpc::ToGrpc(absl::InternalError("not expected"));
    Watch watch = watches.front();
    watches.pop_front();
    for (const v1::RunProgress& message : watch.messages) writer->Write(message);
    return rpc::ToGrpc(watch.end);
  }

 private:
  std::unique_ptr<grpc::Server> server_;
};

// Runs `assay ARGUMENTS` against the fake.
struct Outcome {
  int code = -1;
  std::string out, err;
};

inline Outcome RunAssay(FakeCoordinator& fake, const std::vector<std::string>& arguments) {
  static const SystemClock clock;
  Outcome outcome;
  World world;
  world.out = [&](absl::string_view text) { outcome.out.append(text.data(), text.size()); };
  world.err = [&](absl::string_view text) { outcome.err.append(text.data(), text.size()); };
  world.environment = [](const char*) { return std::optional<std::string>(); };
  world.zone = absl::UTCTimeZone();
  world.clock = &clock;
  world.connect = [&](const std::string&,
                      absl::Duration timeout) -> absl::StatusOr<std::unique_ptr<Coordinator>> {
    return fake.Connect(timeout);
  };
  outcome.code = Main(arguments, world);
  return outcome;
}

}  // namespace assay::cli

#endif  // ASSAY_TESTS_CLI_COMMAND_FAKE_COORDINATOR_H_
