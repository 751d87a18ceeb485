#include "server/dispatch/agent_list.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"

namespace assay::dispatch {
namespace {

v1::AgentState StateOf(const store::AgentRecord& agent, bool connected) {
  if (agent.superseded) return v1::AGENT_STATE_REVOKED;
  if (connected) return v1::AGENT_STATE_CONNECTED;
  return agent.last_seen_at.has_value() ? v1::AGENT_STATE_OFFLINE : v1::AGENT_STATE_NEVER_SEEN;
}

}  // namespace

bool ClockIsOff(const v1::ClockEstimate& clock) {
  return absl::AbsDuration(FromProto(clock.offset())) - FromProto(clock.error_bound()) >
         kClockWarning;
}

absl::StatusOr<v1::ListAgentsResponse> ListAgents(store::Store& store, const AgentHub& hub,
                                                  const Dispatcher& dispatcher) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<store::AgentRecord> agents, store.ListAgents());
  ASSAY_ASSIGN_OR_RETURN(std::vector<store::CertificateRecord> certificates,
                         store.ListCertificates());
  std::map<std::string, absl::Time> expiry;  // of the newest certificate, by agent
  for (const store::CertificateRecord& certificate : certificates) {
    absl::Time& latest = expiry[certificate.agent_id];
    latest = std::max(latest, certificate.not_after);
  }
  v1::ListAgentsResponse response;
  for (const store::AgentRecord& agent : agents) {
    std::optional<Presence> presence = hub.Find(agent.agent_id);
    const v1::Hello& hello = presence.has_value() ? presence->hello : agent.hello;
    v1::AgentInfo& info = *response.add_agents();
    info.set_agent_id(agent.agent_id);
    info.set_subject_kind(agent.subject.kind);
    info.set_subject(agent.subject.name);
    info.set_state(StateOf(agent, presence.has_value()));
    info.set_version(hello.version());
    info.set_hostname(hello.hostname());
    info.set_os(hello.os());
    info.set_peer(presence.has_value() ? presence->peer : agent.peer);
    *info.mutable_enrolled_at() = ToProto(agent.enrolled_at);
    if (presence.has_value()) {
      *info.mutable_last_seen_at() = ToProto(presence->last_seen_at);
    } else if (agent.last_seen_at.has_value()) {
      *info.mutable_last_seen_at() = ToProto(*agent.last_seen_at);
    }
    *info.mutable_certificate_expires_at() = ToProto(expiry[agent.agent_id]);
    *info.mutable_capabilities() = hello.capabilities();
    info.set_running_tasks(dispatcher.LeasedBy(agent.agent_id));
    if (!hello.has_clock()) continue;
    *info.mutable_clock() = hello.clock();
    if (ClockIsOff(hello.clock())) {
      *info.add_warnings() =
          MakeMessage("server.clock_is_off",
                      {{"name", agent.subject.name},
                       {"offset", absl::FormatDuration(FromProto(hello.clock().offset()))}});
    }
  }
  return response;
}

}  // namespace assay::dispatch
