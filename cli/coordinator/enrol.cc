#include "cli/coordinator/enrol.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "assay/v1/agent.grpc.pb.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/build/version.h"
#include "common/rpc/credentials.h"
#include "common/rpc/status.h"

namespace assay::cli {

absl::StatusOr<Enrolled> EnrolPerson(const tls::HostPort& coordinator, const std::string& token,
                                     const std::string& ca_fingerprint, absl::Duration timeout) {
  Enrolled enrolled;
  enrolled.context.coordinator = coordinator;
  tls::Identity& identity = enrolled.context.identity;
  ASSAY_ASSIGN_OR_RETURN(identity.ca_pem, tls::FetchCa(coordinator, ca_fingerprint, timeout));
  ASSAY_ASSIGN_OR_RETURN(identity.key_pem, tls::GenerateKey());

  v1::EnrolRequest request;
  request.set_token(token);
  request.set_version(kVersion);
  ASSAY_ASSIGN_OR_RETURN(*request.mutable_csr_der(), tls::MakeCsr(identity.key_pem));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel,
                         rpc::MakeChannel(coordinator, identity.ca_pem, std::nullopt));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  v1::EnrolResponse response;
  grpc::Status status = v1::EnrolmentService::NewStub(channel)->Enrol(&context, request, &response);
  if (!status.ok()) {
    absl::Status failure = rpc::FromGrpc(status);
    if (!MessageOf(failure).has_value() && failure.code() == absl::StatusCode::kUnavailable) {
      ASSAY_RETURN_IF_ERROR(tls::Diagnose(coordinator, std::nullopt, timeout));
    }
    return failure;
  }
  if (response.subject_kind() != v1::SUBJECT_KIND_PERSON) {
    return Error(absl::StatusCode::kFailedPrecondition, "cli.token_is_an_agents",
                 {{"name", response.subject()}});
  }
  identity.chain_pem = response.certificate_chain_pem();
  ASSAY_RETURN_IF_ERROR(tls::CheckIdentity(identity));
  enrolled.person = response.subject();
  enrolled.role = response.role();
  return enrolled;
}

}  // namespace assay::cli
