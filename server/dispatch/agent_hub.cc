#include "server/dispatch/agent_hub.h"

#include <utility>

#include "common/base/message.h"
#include "common/base/proto_time.h"

namespace assay::dispatch {

void AgentHub::Connect(const Presence& presence, std::shared_ptr<AgentOutlet> outlet) {
  std::shared_ptr<AgentOutlet> previous;
  std::optional<v1::CoordinatorMessage> drain;
  std::optional<absl::Status> closed;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Session& session = sessions_[presence.agent_id];
    previous = std::exchange(session.outlet, outlet);
    session.presence = presence;
    drain = drain_;
    closed = closed_;
  }
  if (previous != nullptr) {
    previous->Close(Error(absl::StatusCode::kAborted, "server.session_replaced"));
  }
  if (drain.has_value()) outlet->Send(*drain);
  if (closed.has_value()) outlet->Close(*closed);
}

bool AgentHub::Disconnect(const std::string& agent_id, const AgentOutlet* outlet) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = sessions_.find(agent_id);
  if (found == sessions_.end() || found->second.outlet.get() != outlet) return false;
  sessions_.erase(found);
  return true;
}

void AgentHub::Seen(const std::string& agent_id, absl::Time now,
                    const std::optional<v1::ClockEstimate>& clock) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = sessions_.find(agent_id);
  if (found == sessions_.end()) return;
  found->second.presence.last_seen_at = now;
  if (clock.has_value()) *found->second.presence.hello.mutable_clock() = *clock;
}

void AgentHub::Send(const std::string& agent_id, const v1::CoordinatorMessage& message) {
  std::shared_ptr<AgentOutlet> outlet;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = sessions_.find(agent_id);
    if (found != sessions_.end()) outlet = found->second.outlet;
  }
  if (outlet != nullptr) outlet->Send(message);
}

void AgentHub::CloseSubject(const store::Subject& subject, const absl::Status& status) {
  std::vector<std::shared_ptr<AgentOutlet>> outlets;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [id, session] : sessions_) {
      const store::Subject& own = session.presence.subject;
      if (own.kind == subject.kind && own.name == subject.name) outlets.push_back(session.outlet);
    }
  }
  for (const auto& outlet : outlets) outlet->Close(status);
}

void AgentHub::CloseExpired(absl::Time now) {
  std::vector<std::shared_ptr<AgentOutlet>> outlets;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [id, session] : sessions_) {
      if (session.presence.certificate_expires_at <= now) outlets.push_back(session.outlet);
    }
  }
  for (const auto& outlet : outlets) {
    outlet->Close(Error(absl::StatusCode::kUnauthenticated, "identity.certificate_expired"));
  }
}

std::vector<std::shared_ptr<AgentOutlet>> AgentHub::OutletsLocked() const {
  std::vector<std::shared_ptr<AgentOutlet>> outlets;
  for (const auto& [id, session] : sessions_) outlets.push_back(session.outlet);
  return outlets;
}

void AgentHub::Drain(absl::Duration reconnect_after) {
  v1::CoordinatorMessage message;
  *message.mutable_drain()->mutable_reconnect_after() = ToProto(reconnect_after);
  std::vector<std::shared_ptr<AgentOutlet>> outlets;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    drain_ = message;
    outlets = OutletsLocked();
  }
  for (const auto& outlet : outlets) outlet->Send(message);
}

void AgentHub::CloseAll(const absl::Status& status) {
  std::vector<std::shared_ptr<AgentOutlet>> outlets;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = status;
    outlets = OutletsLocked();
  }
  for (const auto& outlet : outlets) outlet->Close(status);
}

std::optional<Presence> AgentHub::Find(const std::string& agent_id) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = sessions_.find(agent_id);
  if (found == sessions_.end()) return std::nullopt;
  return found->second.presence;
}

std::vector<Presence> AgentHub::List() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Presence> list;
  for (const auto& [id, session] : sessions_) list.push_back(session.presence);
  return list;
}

}  // namespace assay::dispatch
