#include "agent/enrolment/join.h"

#include <grpcpp/client_context.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "agent/enrolment/state.h"
#include "assay/v1/agent.grpc.pb.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "common/rpc/credentials.h"
#include "common/rpc/status.h"
#include "common/tls/identity.h"

namespace assay::enrolment {
namespace {

// About the size of an identity.
constexpr size_t kTrialBytes = 16 << 10;

bool Exists(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0;
}

// The directories on the way to `path` that are not there, the innermost first.
std::vector<std::string> MissingDirectories(std::string path) {
  std::vector<std::string> missing;
  while (!path.empty() && path != "/" && !Exists(path)) {
    missing.push_back(path);
    size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
  return missing;
}

// A token works once: find out before it is spent whether its fruit can be kept.
absl::Status TryWriting(const StatePaths& paths) {
  std::string trial = paths.directory + "/trial";
  absl::Status written = files::WriteAtomically(trial, std::string(kTrialBytes, '#'), 0600);
  absl::Status removed = files::Remove(trial);
  return written.ok() ? removed : written;
}

absl::StatusOr<v1::EnrolResponse> Redeem(const JoinOptions& options, const std::string& ca_pem,
                                         const std::string& csr_der) {
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel,
                         rpc::MakeChannel(options.coordinator, ca_pem, std::nullopt));
  v1::EnrolRequest request;
  request.set_token(options.token);
  request.set_csr_der(csr_der);
  request.set_version(options.version);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoSeconds(options.timeout));
  v1::EnrolResponse response;
  absl::Status status =
      rpc::FromGrpc(v1::EnrolmentService::NewStub(channel)->Enrol(&context, request, &response));
  if (status.ok()) return response;
  if (absl::IsUnavailable(status) && !MessageOf(status).has_value()) {
    return Error(
        absl::StatusCode::kUnavailable, "agent.enrolment_failed",
        {{"peer", options.coordinator.ToString()}, {"detail", std::string(status.message())}});
  }
  return status;
}

absl::Status Write(const StatePaths& paths, const JoinOptions& options,
                   const tls::Identity& identity) {
  absl::StatusOr<std::string> before = files::Read(paths.coordinator, 4096);
  // The identity comes last: with it the agent is enrolled.
  ASSAY_RETURN_IF_ERROR(files::WriteAtomically(
      paths.coordinator, absl::StrCat(options.coordinator.ToString(), "\n"), 0600));
  absl::Status saved = tls::SaveIdentity(paths.identity, identity);
  if (!saved.ok()) {
    absl::Status undone = before.ok() ? files::WriteAtomically(paths.coordinator, *before, 0600)
                                      : files::Remove(paths.coordinator);
    if (!undone.ok()) return undone;
  }
  return saved;
}

}  // namespace

absl::StatusOr<v1::EnrolResponse> Join(const JoinOptions& options) {
  StatePaths paths(options.state_directory);
  if (IsEnrolled(paths) && !options.replace) {
    return Error(absl::StatusCode::kAlreadyExists, "agent.already_enrolled",
                 {{"directory", paths.directory}});
  }
  std::vector<std::string> created = MissingDirectories(paths.directory);
  bool lock_is_new = !Exists(paths.directory + "/lock");
  absl::Cleanup undo = [&] {
    if (lock_is_new) unlink((paths.directory + "/lock").c_str());
    for (const std::string& directory : created) rmdir(directory.c_str());
  };
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(paths.directory, 0700));
  absl::StatusOr<files::DirectoryLock> lock = files::DirectoryLock::Acquire(paths.directory);
  if (!lock.ok()) {
    std::move(undo).Cancel();  // what is there is somebody else's
    return lock.status();
  }
  ASSAY_RETURN_IF_ERROR(TryWriting(paths));
  ASSAY_ASSIGN_OR_RETURN(std::string ca_pem, tls::FetchCa(options.coordinator,
                                                          options.ca_fingerprint, options.timeout));
  tls::Identity identity;
  identity.ca_pem = ca_pem;
  ASSAY_ASSIGN_OR_RETURN(identity.key_pem, tls::GenerateKey());
  ASSAY_ASSIGN_OR_RETURN(std::string csr, tls::MakeCsr(identity.key_pem));
  ASSAY_ASSIGN_OR_RETURN(v1::EnrolResponse response, Redeem(options, ca_pem, csr));
  if (response.subject_kind() != v1::SUBJECT_KIND_SERVER &&
      response.subject_kind() != v1::SUBJECT_KIND_VANTAGE) {
    return Error(absl::StatusCode::kFailedPrecondition, "agent.token_for_person",
                 {{"person", response.subject()}});
  }
  identity.chain_pem = response.certificate_chain_pem();
  ASSAY_RETURN_IF_ERROR(Write(paths, options, identity));
  std::move(undo).Cancel();
  return response;
}

}  // namespace assay::enrolment
