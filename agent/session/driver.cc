#include "agent/session/driver.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>
#include <utility>
#include <variant>

#include "absl/random/random.h"
#include "agent/session/mailbox.h"
#include "agent/session/renewal.h"
#include "agent/session/session_core.h"
#include "agent/session/stream.h"
#include "common/base/proto_time.h"

namespace assay::session {
namespace {

constexpr absl::Duration kProbesMayEnd = absl::Seconds(2);

// What makes two failures the same to a reader: figures within the sentence may differ.
std::string ReasonKey(const absl::Status& status) {
  std::optional<v1::Message> message = MessageOf(status);
  return message.has_value() ? message->id() : status.ToString();
}

}  // namespace

class Driver::Impl {
 public:
  explicit Impl(DriverOptions options)
      : options_(std::move(options)),
        mailbox_(std::make_shared<Mailbox>()),
        runner_(options_.probes, options_.guard, mailbox_,
                {[this](const TaskKey& key, const v1::Result& result) {
                   core_.OnProbeDone(key, result, Now());
                 },
                 [this](const TaskKey& key, double fraction) {
                   core_.OnProbeProgress(key, fraction);
                 }}),
        core_(CoreOptions()) {
    if (options_.identity.has_value()) {
      Renewal::Options renewal;
      renewal.identity_path = options_.identity_path;
      renewal.obtained = options_.identity_obtained;
      renewal.random = [this] { return Random(); };
      renewal.renewed = [this] { core_.Reconnect(Now()); };
      renewal_.emplace(*options_.identity, std::move(renewal), mailbox_);
    }
  }

  absl::Status Run() {
    core_.Start(Now());
    while (!finished_.has_value()) {
      Do();
      ReadLetters(Wait());
      core_.Tick(Now());
      RenewIfDue();
    }
    if (renewal_.has_value()) renewal_->Cancel();
    while (renewal_.has_value() && renewal_->busy()) ReadLetters(kProbesMayEnd);
    absl::Duration end = Now().steady + kProbesMayEnd;
    while (core_.threads() > 0 && Now().steady < end) ReadLetters(end - Now().steady);
    return *finished_;
  }

  void Stop() {
    mailbox_->Post([this] { core_.Stop(Now()); });
  }

  bool left_threads() const { return core_.threads() > 0 || diagnosing_; }

 private:
  SessionOptions CoreOptions() {
    SessionOptions core;
    core.tasks.guard = options_.guard.get();
    core.tasks.spool = options_.spool;
    core.tasks.max_parallel = options_.max_parallel;
    core.tasks.version = options_.version;
    core.hostname = options_.hostname;
    core.os = options_.os;
    core.capabilities = [this] { return CapabilitiesOf(*options_.probes, *options_.guard); };
    core.random = [this] { return Random(); };
    return core;
  }

  double Random() { return absl::Uniform(random_, 0.0, 1.0); }

  Moment Now() const {
    return {options_.clock->Now(),
            absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch())};
  }

  std::optional<tls::Identity> Identity() const {
    if (!renewal_.has_value()) return std::nullopt;
    return renewal_->identity();
  }

  absl::Duration Wait() const {
    absl::Duration next = core_.NextTimer();
    if (renewal_.has_value() && core_.open()) next = std::min(next, renewal_->NextTimer());
    return std::max(next - Now().steady, absl::ZeroDuration());
  }

  // One after another: what one causes is done before the next is read.
  void ReadLetters(absl::Duration timeout) {
    for (const Mailbox::Letter& letter : mailbox_->Take(timeout)) {
      letter();
      Do();
    }
  }

  // Everything that the state machine wants by now.
  void Do() {
    for (std::vector<Action> actions = core_.TakeActions(); !actions.empty();
         actions = core_.TakeActions()) {
      for (Action& action : actions) {
        std::visit([this](auto& one) { Do(one); }, action);
      }
    }
    if (stream_ == nullptr) return;
    std::optional<v1::AgentMessage> message = core_.NextMessage(Now());
    if (message.has_value()) stream_->Write(*std::move(message));
  }

  void Do(const StartProbe& start) { runner_.Start(start.assignment); }
  void Do(const CancelProbe& cancel) { runner_.Cancel(cancel.key); }
  void Do(const CloseStream&) {
    if (stream_ != nullptr) stream_->CloseWrites();
  }
  void Do(const AbortStream&) {
    if (stream_ != nullptr) stream_->Abort();
  }
  void Do(const Finish& finish) { finished_ = finish.status; }

  void Do(const OpenStream&) {
    absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = options_.dial(Identity());
    if (!channel.ok()) {
      mailbox_->Post([this, status = channel.status()] { core_.OnStreamEnded(status, Now()); });
      return;
    }
    channel_ = *std::move(channel);
    Stream::Receiver receiver;
    receiver.message = [this](const v1::CoordinatorMessage& message) {
      core_.OnMessage(message, Now());
      stream_->ReadNext();
    };
    receiver.written = [this] { core_.OnWritten(); };
    receiver.ended = [this](const absl::Status& status) {
      stream_.reset();
      channel_.reset();
      core_.OnStreamEnded(status, Now());
    };
    stream_ = Stream::Open(channel_, mailbox_, std::move(receiver));
  }

  void Do(const Connected&) { told_.clear(); }

  void Do(const ExplainFailure& failure) {
    if (options_.diagnose == nullptr) return Tell(failure.status);
    if (diagnosing_) return;
    diagnosing_ = true;
    std::weak_ptr<Impl*> alive = alive_;
    std::thread([alive, mailbox = mailbox_, diagnose = options_.diagnose, identity = Identity(),
                 failed = failure.status] {
      absl::Status why = diagnose(identity);
      mailbox->Post([alive, status = why.ok() ? failed : why] {
        auto self = alive.lock();
        if (self == nullptr) return;
        (*self)->diagnosing_ = false;
        if (!(*self)->core_.open()) (*self)->Tell(status);
      });
    }).detach();
  }

  // Once, until the reason changes or a connection has worked.
  void Tell(const absl::Status& status) {
    std::string key = ReasonKey(status);
    if (key == told_) return;
    told_ = key;
    spdlog::warn("cannot reach the coordinator, trying on: {}",
                 Render(options_.log_language, status));
  }

  void RenewIfDue() {
    if (!renewal_.has_value() || !core_.open() || channel_ == nullptr) return;
    Moment now = Now();
    absl::Time coordinator_time = now.wall;
    if (std::optional<v1::ClockEstimate> clock = core_.ClockAt(now); clock.has_value()) {
      coordinator_time -= FromProto(clock->offset());
    }
    renewal_->Tick(channel_, coordinator_time, now);
  }

  const DriverOptions options_;
  absl::BitGen random_;
  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<Impl*> alive_ = std::make_shared<Impl*>(this);
  ProbeRunner runner_;
  SessionCore core_;
  std::optional<Renewal> renewal_;
  std::shared_ptr<grpc::Channel> channel_;
  std::shared_ptr<Stream> stream_;  // until it has ended
  std::optional<absl::Status> finished_;
  bool diagnosing_ = false;
  std::string told_;
};

Driver::Driver(DriverOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Driver::~Driver() = default;
absl::Status Driver::Run() { return impl_->Run(); }
void Driver::Stop() { impl_->Stop(); }
bool Driver::left_threads() const { return impl_->left_threads(); }

}  // namespace assay::session
