#include "server/app/serve.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/build/version.h"
#include "common/files/files.h"
#include "common/rpc/credentials.h"
#include "common/tls/dial.h"
#include "common/tls/identity.h"
#include "server/dispatch/access.h"
#include "server/dispatch/agent_hub.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/intake.h"
#include "server/dispatch/run_book.h"
#include "server/dispatch/worker_pool.h"
#include "server/pki/authority.h"
#include "server/rpc/agent_service.h"
#include "server/rpc/control_service.h"
#include "server/rpc/gate.h"
#include "server/store/sqlite_store.h"

namespace assay::app {
namespace {

constexpr absl::Duration kServingLifetime = absl::Hours(24 * 90);
constexpr absl::Duration kServingRenewal = absl::Hours(24 * 30);
constexpr absl::Duration kDrainDelay = absl::Seconds(2);
constexpr absl::Duration kDrainWait = absl::Seconds(3);
constexpr absl::Duration kShutdownLimit = absl::Seconds(5);
constexpr int kWorkers = 4;
constexpr size_t kMaxQueuedWork = 20000;

// Names under which the coordinator may be dialled.
std::vector<std::string> ServingNames(const Settings& settings) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  absl::StatusOr<tls::HostPort> address = tls::ParseHostPort(settings.address);
  if (address.ok()) names.insert(names.begin(), address->host);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

class CoordinatorImpl final : public Coordinator {
 public:
  CoordinatorImpl(ServeOptions options, const Clock& clock, Settings settings, Paths paths)
      : options_(std::move(options)),
        clock_(clock),
        settings_(std::move(settings)),
        paths_(std::move(paths)) {}
  ~CoordinatorImpl() override { Stop(); }

  absl::Status Start() {
    ASSAY_ASSIGN_OR_RETURN(store_, store::OpenSqliteStore({paths_.database, /*create=*/false}));
    ASSAY_ASSIGN_OR_RETURN(authority_, pki::Authority::Load(paths_.pki));
    ASSAY_RETURN_IF_ERROR(RenewServingIdentity());

    dispatch::AccessOptions access;
    access.store = store_.get();
    access.authority = authority_.get();
    access.clock = &clock_;
    access.advertised_address = settings_.address;
    access.agent_lifetime = options_.agent_certificate_lifetime;
    ASSAY_ASSIGN_OR_RETURN(access_, dispatch::Access::Create(access));

    pool_.emplace(kWorkers, kMaxQueuedWork);
    dispatch::Dispatcher::Options dispatcher;
    dispatcher.store = store_.get();
    dispatcher.clock = &clock_;
    dispatcher.hub = &hub_;
    dispatcher.on_run_ended = [this](const std::string& run) {
      pool_->Submit([this, run] { runs_->EvaluateAll(run); });
    };
    dispatcher_.emplace(std::move(dispatcher));
    runs_.emplace(store_.get(), &clock_, &hub_, &*dispatcher_);
    intake_.emplace(store_.get(), &clock_, &*dispatcher_, &*pool_);
    enrolment_.emplace(access_.get(), &hub_, &*pool_);
    agents_.emplace(rpc::SessionParts{store_.get(), &clock_, access_.get(), &hub_, &*dispatcher_,
                                      &*intake_, &*pool_, options_.heartbeat_interval});
    control_.emplace(rpc::ControlService::Parts{store_.get(), &clock_, access_.get(), &hub_,
                                                &*dispatcher_, &*runs_, &*pool_});
    ASSAY_RETURN_IF_ERROR(dispatcher_->Start());
    return Listen();
  }

  std::string listening_address() const override { return listening_address_; }

  void Housekeep() override {
    absl::Time now = clock_.Now();
    hub_.CloseExpired(now);
    if (now < next_renewal_check_) return;
    next_renewal_check_ = now + absl::Hours(1);
    absl::Status renewed = RenewServingIdentity();
    if (!renewed.ok()) {
      spdlog::error("cannot renew the serving certificate: {}", std::string(renewed.message()));
    }
  }

  void Stop() override {
    if (server_ != nullptr) {
      spdlog::info("stopping");
      hub_.Drain(kDrainDelay);
      // Agents that understand Drain leave by themselves; acknowledgements under way get out.
      for (absl::Time end = absl::Now() + kDrainWait; absl::Now() < end && !hub_.List().empty();) {
        absl::SleepFor(absl::Milliseconds(20));
      }
      hub_.CloseAll(Error(absl::StatusCode::kUnavailable, "server.stopping"));
      server_->Shutdown(absl::ToChronoTime(absl::Now() + kShutdownLimit));
      server_->Wait();
      server_.reset();
    }
    // Work that waits uses the parts below it: the pool goes first.
    if (dispatcher_.has_value()) dispatcher_->Stop();
    pool_.reset();
  }

 private:
  absl::Status Listen() {
    std::string listen = options_.listen.empty() ? settings_.listen : options_.listen;
    ASSAY_ASSIGN_OR_RETURN(tls::HostPort address, ParseListen(listen));
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<grpc::ServerCredentials> credentials,
                           rpc::ServerCredentialsFromFile(paths_.serving_identity));
    credentials->SetAuthMetadataProcessor(std::make_shared<rpc::Gate>(access_.get()));

    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    rpc::ConfigureServer(builder);
    int port = 0;
    builder.AddListeningPort(address.ToString(), credentials, &port);
    builder.RegisterService(&*enrolment_);
    builder.RegisterService(&*agents_);
    builder.RegisterService(&*control_);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      server_.reset();
      return Error(absl::StatusCode::kUnavailable, "server.cannot_listen",
                   {{"address", address.ToString()}});
    }
    listening_address_ = tls::HostPort{address.host, port}.ToString();
    spdlog::info("coordinator {} {} listens on {}", settings_.name, kVersion, listening_address_);
    return absl::OkStatus();
  }

  // Issues a new serving certificate when there is none, when it is near its end, or when the
  // address has changed.
  absl::Status RenewServingIdentity() {
    absl::Time now = clock_.Now();
    absl::StatusOr<tls::Identity> present = tls::LoadIdentity(paths_.serving_identity);
    absl::StatusOr<std::string> names = files::Read(paths_.serving_identity + ".names");
    std::string wanted = absl::StrJoin(ServingNames(settings_), "\n");
    if (present.ok() && names.ok() && *names == wanted && present->ca_pem == authority_->ca_pem()) {
      absl::StatusOr<tls::CertificateInfo> info = tls::ReadCertificate(present->chain_pem);
      if (info.ok() && info->not_after - now > kServingRenewal) return absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(tls::Identity identity, authority_->IssueServing(ServingNames(settings_),
                                                                            now, kServingLifetime));
    ASSAY_RETURN_IF_ERROR(tls::SaveIdentity(paths_.serving_identity, identity));
    return files::WriteAtomically(paths_.serving_identity + ".names", wanted, 0644);
  }

  const ServeOptions options_;
  const Clock& clock_;
  const Settings settings_;
  const Paths paths_;
  std::string listening_address_;
  absl::Time next_renewal_check_ = absl::InfinitePast();

  // In the order of use: what is below uses what is above.
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<pki::Authority> authority_;
  std::unique_ptr<dispatch::Access> access_;
  dispatch::AgentHub hub_;
  std::optional<dispatch::Dispatcher> dispatcher_;
  std::optional<dispatch::RunBook> runs_;
  std::optional<dispatch::WorkerPool> pool_;
  std::optional<dispatch::Intake> intake_;
  std::optional<rpc::EnrolmentService> enrolment_;
  std::optional<rpc::AgentService> agents_;
  std::optional<rpc::ControlService> control_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(const ServeOptions& options,
                                                                const Clock& clock) {
  Paths paths(options.directory);
  ASSAY_ASSIGN_OR_RETURN(Settings settings, LoadSettings(paths));
  auto coordinator = std::make_unique<CoordinatorImpl>(options, clock, settings, paths);
  ASSAY_RETURN_IF_ERROR(coordinator->Start());
  return coordinator;
}

}  // namespace assay::app
