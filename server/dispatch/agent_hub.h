// Who is connected: agents by id, with the way to reach them.
#ifndef ASSAY_SERVER_DISPATCH_AGENT_HUB_H_
#define ASSAY_SERVER_DISPATCH_AGENT_HUB_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "server/store/records.h"

namespace assay::dispatch {

// The sending half of one agent's session. Thread-safe; both return at once.
class AgentOutlet {
 public:
  virtual ~AgentOutlet() = default;
  // Dropped when the session has ended. A session whose queue is full ends itself.
  virtual void Send(const v1::CoordinatorMessage& message) = 0;
  // Ends the session with this status. Only the first call counts.
  virtual void Close(const absl::Status& status) = 0;
};

// What is known of a connected agent.
struct Presence {
  std::string agent_id;
  store::Subject subject;
  std::string serial;  // of its certificate
  absl::Time certificate_expires_at;
  std::string peer;
  v1::Hello hello;  // with the newest clock estimate
  absl::Time connected_at;
  absl::Time last_seen_at;
};

// Thread-safe.
class AgentHub {
 public:
  // Replaces an earlier session of the same agent, which is closed.
  void Connect(const Presence& presence, std::shared_ptr<AgentOutlet> outlet);
  // False where `outlet` is not (any more) the agent's session.
  bool Disconnect(const std::string& agent_id, const AgentOutlet* outlet);
  void Seen(const std::string& agent_id, absl::Time now,
            const std::optional<v1::ClockEstimate>& clock);

  void Send(const std::string& agent_id, const v1::CoordinatorMessage& message);
  // Ends the sessions of a subject's agents.
  void CloseSubject(const store::Subject& subject, const absl::Status& status);
  // Ends sessions whose certificate has expired.
  void CloseExpired(absl::Time now);
  // Tells every agent to come back later, also those that connect from now on.
  void Drain(absl::Duration reconnect_after);
  // Ends every session, also those that connect from now on.
  void CloseAll(const absl::Status& status);

  std::optional<Presence> Find(const std::string& agent_id) const;
  std::vector<Presence> List() const;

 private:
  struct Session {
    Presence presence;
    std::shared_ptr<AgentOutlet> outlet;
  };
  std::vector<std::shared_ptr<AgentOutlet>> OutletsLocked() const;

  mutable std::mutex mutex_;
  std::map<std::string, Session> sessions_;  // by agent id
  std::optional<v1::CoordinatorMessage> drain_;
  std::optional<absl::Status> closed_;
};

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_AGENT_HUB_H_
