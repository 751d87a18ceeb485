#include "agent/session/renewal.h"

#include <grpcpp/client_context.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "assay/v1/agent.grpc.pb.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/rpc/status.h"

namespace assay::session {
namespace {

constexpr absl::Duration kLongestCheck = absl::Hours(1);
constexpr absl::Duration kShortestRetry = absl::Seconds(1);
constexpr absl::Duration kLongestRetry = absl::Minutes(10);
constexpr absl::Duration kCallTimeout = absl::Seconds(30);

}  // namespace

absl::Time RenewAt(const tls::CertificateInfo& certificate, absl::Time obtained, double jitter) {
  absl::Time begin = std::clamp(obtained, certificate.not_before, certificate.not_after);
  absl::Duration lifetime = certificate.not_after - begin;
  return begin + lifetime * (2.0 / 3) - lifetime * (jitter / 20);
}

struct Renewal::Call {
  std::unique_ptr<v1::AgentService::Stub> stub;
  grpc::ClientContext context;
  v1::RenewRequest request;
  v1::RenewResponse response;
  std::string key_pem;
  absl::Time begun;  // coordinator's clock
};

Renewal::Renewal(tls::Identity identity, Options options, std::shared_ptr<Mailbox> mailbox)
    : identity_(std::move(identity)),
      options_(std::move(options)),
      mailbox_(std::move(mailbox)),
      not_after_(absl::InfiniteFuture()),
      renew_at_(absl::InfiniteFuture()) {
  absl::StatusOr<tls::CertificateInfo> info = tls::ReadCertificate(identity_.chain_pem);
  if (info.ok()) not_after_ = info->not_after;  // it was checked when it was loaded
}

void Renewal::Tick(const std::shared_ptr<grpc::Channel>& channel, absl::Time coordinator_time,
                   const Moment& now) {
  if (now.steady < check_at_) return;
  if (!scheduled_) {
    // By now it is known how far this host's clock is off.
    absl::StatusOr<tls::CertificateInfo> info = tls::ReadCertificate(identity_.chain_pem);
    absl::Time obtained = options_.obtained + (coordinator_time - now.wall);
    if (info.ok()) renew_at_ = RenewAt(*info, obtained, options_.random());
    scheduled_ = true;
  }
  if (call_ != nullptr || coordinator_time < renew_at_) {
    check_at_ = now.steady +
                std::min(std::max(renew_at_ - coordinator_time, kShortestRetry), kLongestCheck);
    return;
  }
  // Unless it succeeds: several times before the end, also of a short life.
  absl::Duration retry = (not_after_ - coordinator_time) / 8 * (0.5 + options_.random() / 2);
  check_at_ = now.steady + std::clamp(retry, kShortestRetry, kLongestRetry);
  Begin(channel, coordinator_time);
}

void Renewal::Begin(const std::shared_ptr<grpc::Channel>& channel, absl::Time coordinator_time) {
  auto call = std::make_shared<Call>();
  absl::StatusOr<std::string> key = tls::GenerateKey();
  absl::StatusOr<std::string> csr = key.ok() ? tls::MakeCsr(*key) : key.status();
  if (!csr.ok()) return Finished(csr.status());
  call->stub = v1::AgentService::NewStub(channel);
  call->key_pem = *std::move(key);
  call->request.set_csr_der(*csr);
  call->begun = coordinator_time;
  call->context.set_deadline(std::chrono::system_clock::now() +
                             absl::ToChronoSeconds(kCallTimeout));
  call_ = call;
  // The letter takes gRPC's reference to the call with it: the call holds the channel, and a
  // channel that is destroyed in one of gRPC's threads joins that very thread (1.51).
  v1::AgentService::Stub::async_interface* stub = call->stub->async();
  grpc::ClientContext* context = &call->context;
  v1::RenewRequest* request = &call->request;
  v1::RenewResponse* response = &call->response;
  stub->Renew(
      context, request, response,
      [this, call = std::move(call), mailbox = mailbox_](const grpc::Status& status) mutable {
        mailbox->Post([this, call = std::move(call), answer = rpc::FromGrpc(status)] {
          OnAnswer(*call, answer);
        });
      });
}

void Renewal::Cancel() {
  if (call_ != nullptr) call_->context.TryCancel();
}

void Renewal::OnAnswer(const Call& call, const absl::Status& status) {
  call_.reset();
  Finished(status.ok() ? Take(call) : status);
}

void Renewal::Finished(const absl::Status& taken) {
  if (!taken.ok()) {
    spdlog::warn("the certificate (valid until {}) cannot be renewed yet: {}",
                 absl::FormatTime(absl::RFC3339_sec, not_after_, absl::UTCTimeZone()),
                 Render(Language::kEnglish, taken));
    return;
  }
  spdlog::info("the certificate is renewed, valid until {}",
               absl::FormatTime(absl::RFC3339_sec, not_after_, absl::UTCTimeZone()));
  options_.renewed();
}

absl::Status Renewal::Take(const Call& call) {
  tls::Identity fresh{call.key_pem, call.response.certificate_chain_pem(), identity_.ca_pem};
  ASSAY_ASSIGN_OR_RETURN(tls::CertificateInfo info, tls::ReadCertificate(fresh.chain_pem));
  ASSAY_RETURN_IF_ERROR(tls::SaveIdentity(options_.identity_path, fresh));
  identity_ = std::move(fresh);
  not_after_ = info.not_after;
  renew_at_ = RenewAt(info, call.begun, options_.random());
  check_at_ = absl::ZeroDuration();
  return absl::OkStatus();
}

}  // namespace assay::session
