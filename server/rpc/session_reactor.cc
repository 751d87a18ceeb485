#include "server/rpc/session_reactor.h"

#include <spdlog/spdlog.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/build/version.h"
#include "common/rpc/status.h"
#include "server/dispatch/agent_list.h"

namespace assay::rpc {
namespace {

constexpr size_t kMaxQueuedBytes = 8 << 20;
constexpr int kMaxResultsInFlight = 16;

class SessionReactor final
    : public grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>,
      public dispatch::AgentOutlet,
      public std::enable_shared_from_this<SessionReactor> {
 public:
  SessionReactor(const store::CertificateRecord& caller, const std::string& peer,
                 const SessionParts& parts)
      : parts_(parts), caller_(caller), peer_(peer) {}

  // Keeps itself alive until OnDone.
  void Start() {
    self_ = shared_from_this();
    StartRead(&incoming_);
  }
  void Refuse(const absl::Status& status) {
    self_ = shared_from_this();
    Close(status);
  }

  // ---- AgentOutlet, from any thread

  void Send(const v1::CoordinatorMessage& message) override {
    bool overflow = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closing_.has_value()) return;
      queued_bytes_ += message.ByteSizeLong();
      overflow = queued_bytes_ > kMaxQueuedBytes;
      if (!overflow) {
        queue_.push_back(message);
        if (writing_) return;
        writing_ = true;
      }
    }
    if (overflow) {
      return Close(Error(absl::StatusCode::kResourceExhausted, "server.session_overflow"));
    }
    StartWrite(&queue_.front());
  }

  void Close(const absl::Status& status) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closing_.has_value()) return;
      closing_ = status;
      if (writing_) return;  // OnWriteDone finishes
    }
    Finish(ToGrpc(status));
  }

  // ---- reactions

  void OnReadDone(bool ok) override {
    if (!ok) return Close(absl::OkStatus());
    Handle(std::move(incoming_));
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closing_.has_value()) return;
      reading_paused_ = results_in_flight_ >= kMaxResultsInFlight;
      if (reading_paused_) return;
    }
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    absl::Status end;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queued_bytes_ -= queue_.front().ByteSizeLong();
      queue_.pop_front();
      if (!ok && !closing_.has_value()) closing_ = absl::UnavailableError("the stream broke");
      if (!closing_.has_value() && !queue_.empty()) return StartWrite(&queue_.front());
      writing_ = false;
      if (!closing_.has_value()) return;
      end = *closing_;
    }
    Finish(ToGrpc(end));
  }

  void OnCancel() override { Close(absl::CancelledError()); }

  void OnDone() override {
    if (connected_ && parts_.hub->Disconnect(caller_.agent_id, this)) {
      spdlog::info("agent {} ({}) disconnected", caller_.agent_id, caller_.subject.name);
      parts_.dispatcher->AgentDisconnected(caller_.agent_id);
      SaveLastSeen(std::nullopt);
    }
    self_.reset();
  }

 private:
  void Handle(v1::AgentMessage message) {
    if (!connected_ && !message.has_hello()) {
      return Close(Error(absl::StatusCode::kFailedPrecondition, "server.hello_expected"));
    }
    switch (message.kind_case()) {
      case v1::AgentMessage::kHello:
        return OnHello(message.hello());
      case v1::AgentMessage::kHeartbeat:
        return OnHeartbeat(message.heartbeat());
      case v1::AgentMessage::kProgress:
        return parts_.dispatcher->AgentProgress(caller_.agent_id, message.progress());
      case v1::AgentMessage::kResult:
        return OnResult(std::move(*message.mutable_result()));
      default:
        return;  // a newer agent's message
    }
  }

  void OnHello(const v1::Hello& hello) {
    if (connected_) return;
    connected_ = true;
    absl::Time now = parts_.clock->Now();
    spdlog::info("agent {} ({}) connected from {}: version {}, {} running, {} spooled",
                 caller_.agent_id, caller_.subject.name, peer_, hello.version(),
                 hello.running_size(), hello.spooled_size());
    dispatch::Presence presence;
    presence.agent_id = caller_.agent_id;
    presence.subject = caller_.subject;
    presence.serial = caller_.serial;
    presence.certificate_expires_at = caller_.not_after;
    presence.peer = peer_;
    presence.hello = hello;
    presence.connected_at = now;
    presence.last_seen_at = now;

    v1::CoordinatorMessage message;
    v1::Welcome& welcome = *message.mutable_welcome();
    welcome.set_coordinator(parts_.access->coordinator_name());
    welcome.set_version(kVersion);
    *welcome.mutable_time() = ToProto(now);
    *welcome.mutable_heartbeat_interval() = ToProto(parts_.heartbeat_interval);
    Send(message);
    parts_.hub->Connect(presence, shared_from_this());
    // Revoked between the look-up and now?
    absl::Status still_allowed = parts_.access->Identify(caller_.serial).status();
    if (!still_allowed.ok()) return Close(still_allowed);
    parts_.dispatcher->AgentConnected(caller_.agent_id, caller_.subject, hello);
    SaveLastSeen(hello);
  }

  void OnHeartbeat(const v1::Heartbeat& heartbeat) {
    absl::Time now = parts_.clock->Now();
    std::optional<v1::ClockEstimate> clock;
    if (heartbeat.has_clock()) clock = heartbeat.clock();
    parts_.hub->Seen(caller_.agent_id, now, clock);
    if (clock.has_value() && dispatch::ClockIsOff(*clock) && !clock_warned_) {
      clock_warned_ = true;
      spdlog::warn(
          "the clock of agent {} ({}) is off by {}; its results are placed by the "
          "coordinator's clock",
          caller_.agent_id, caller_.subject.name, absl::FormatDuration(FromProto(clock->offset())));
    }
    parts_.dispatcher->AgentHeartbeat(caller_.agent_id, heartbeat);
    v1::CoordinatorMessage message;
    v1::HeartbeatReply& reply = *message.mutable_heartbeat_reply();
    *reply.mutable_sent_at() = heartbeat.sent_at();
    *reply.mutable_received_at() = ToProto(now);
    *reply.mutable_replied_at() = ToProto(parts_.clock->Now());
    Send(message);
    if (now - last_saved_ > absl::Minutes(1)) SaveLastSeen(std::nullopt);
  }

  void OnResult(v1::TaskResult result) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++results_in_flight_;
    }
    v1::TaskRef ref = result.ref();
    parts_.intake->Take(caller_.agent_id, caller_.subject, std::move(result),
                        [self = shared_from_this(), ref](const absl::Status& status) {
                          self->OnResultTaken(ref, status);
                        });
  }

  void OnResultTaken(const v1::TaskRef& ref, const absl::Status& status) {
    if (status.ok()) {
      v1::CoordinatorMessage message;
      *message.mutable_ack()->mutable_ref() = ref;
      Send(message);
    } else {
      // The agent keeps the result and sends it again after it has reconnected.
      Close(Error(absl::StatusCode::kUnavailable, "server.cannot_store_now"));
    }
    // Under the lock, so that the stream cannot end between the check and the read. gRPC runs the
    // reaction in a thread of its own.
    std::lock_guard<std::mutex> lock(mutex_);
    --results_in_flight_;
    if (!reading_paused_ || closing_.has_value()) return;
    reading_paused_ = false;
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void SaveLastSeen(const std::optional<v1::Hello>& hello) {
    absl::Time now = parts_.clock->Now();
    last_saved_ = now;
    parts_.pool->Submit([store = parts_.store, id = caller_.agent_id, peer = peer_, now, hello] {
      absl::Status status = store->UpdateAgent(id, now, peer, hello);
      if (!status.ok()) spdlog::warn("cannot note agent {}: {}", id, std::string(status.message()));
    });
  }

  const SessionParts parts_;
  const store::CertificateRecord caller_;
  const std::string peer_;
  std::shared_ptr<SessionReactor> self_;

  // Of the read reactions, which never run at the same time.
  v1::AgentMessage incoming_;
  bool connected_ = false;
  bool clock_warned_ = false;
  absl::Time last_saved_ = absl::InfinitePast();

  std::mutex mutex_;
  std::deque<v1::CoordinatorMessage> queue_;  // the first is being written while `writing_`
  size_t queued_bytes_ = 0;
  bool writing_ = false;
  int results_in_flight_ = 0;
  bool reading_paused_ = false;
  std::optional<absl::Status> closing_;
};

}  // namespace

grpc::ServerBidiReactor<v1::AgentMessage, v1::CoordinatorMessage>* StartSession(
    const absl::StatusOr<store::CertificateRecord>& caller, const std::string& peer,
    const SessionParts& parts) {
  auto reactor = std::make_shared<SessionReactor>(
      caller.ok() ? *caller : store::CertificateRecord(), peer, parts);
  if (caller.ok()) {
    reactor->Start();
  } else {
    reactor->Refuse(caller.status());
  }
  return reactor.get();
}

}  // namespace assay::rpc
