// The coordinator, as commands see it: one function a call, gRPC kept out of sight.
#ifndef ASSAY_CLI_COORDINATOR_COORDINATOR_H_
#define ASSAY_CLI_COORDINATOR_COORDINATOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "assay/v1/control.pb.h"
#include "cli/coordinator/context.h"

namespace grpc {
class Channel;
}

namespace assay::cli {

// Errors of every call: the coordinator's own with its catalogue message; UNAVAILABLE with a
// sentence that says why where it cannot be reached. Not thread-safe.
class Coordinator {
 public:
  // Says why the coordinator cannot be reached; OK where nothing is wrong.
  using Diagnosis = std::function<absl::Status()>;

  // `timeout` holds for each call. Connects when first used.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Connect(const Context& context,
                                                              absl::Duration timeout);
  // Over a channel made elsewhere. `name` stands in messages.
  Coordinator(std::shared_ptr<grpc::Channel> channel, std::string name, absl::Duration timeout,
              Diagnosis diagnosis);
  ~Coordinator();

  const std::string& name() const { return name_; }

  absl::StatusOr<v1::ApplyResponse> Apply(const v1::ApplyRequest& request);
  absl::StatusOr<v1::Document> GetDocument(const std::string& kind, const std::string& name);
  absl::StatusOr<v1::CreateTokenResponse> CreateToken(const v1::CreateTokenRequest& request);
  absl::StatusOr<v1::ListAgentsResponse> ListAgents();
  absl::StatusOr<v1::RevokeResponse> Revoke(const v1::RevokeRequest& request);
  absl::StatusOr<v1::Run> StartRun(const std::string& plan);
  absl::StatusOr<v1::ListRunsResponse> ListRuns(const v1::ListRunsRequest& request);
  absl::StatusOr<v1::GetRunResponse> GetRun(const std::string& run);
  absl::StatusOr<v1::Run> CancelRun(const std::string& run);
  absl::StatusOr<v1::ListResultsResponse> ListResults(const v1::ListResultsRequest& request);
  absl::StatusOr<v1::StoredResult> GetResult(int64_t id);
  absl::StatusOr<v1::Verdict> GetVerdict(const std::string& server, const std::string& run);
  absl::StatusOr<v1::WhoAmIResponse> WhoAmI();

  // Reads the stream until it ends (OK), breaks, or one of the functions gives false (CANCELLED).
  // `on_tick` is called about four times a second, also while nothing arrives.
  absl::Status WatchRun(const std::string& run,
                        absl::FunctionRef<bool(const v1::RunProgress&)> on_progress,
                        absl::FunctionRef<bool()> on_tick);

 private:
  struct Transport;
  template <typename Method, typename Request, typename Response>
  absl::StatusOr<Response> Call(Method method, const Request& request, Response response);
  // Adds the reason to what gRPC alone reports as unreachable.
  absl::Status Explain(absl::Status status) const;

  std::unique_ptr<Transport> transport_;
  const std::string name_;
  const absl::Duration timeout_;
  const Diagnosis diagnosis_;
};

}  // namespace assay::cli

#endif  // ASSAY_CLI_COORDINATOR_COORDINATOR_H_
