// Runs an agent: the state machine of session_core.h with real streams, threads and clocks.
#ifndef ASSAY_AGENT_SESSION_DRIVER_H_
#define ASSAY_AGENT_SESSION_DRIVER_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/guard/guard.h"
#include "agent/session/probe_runner.h"
#include "agent/spool/spool.h"
#include "common/base/message.h"
#include "common/clock/clock.h"
#include "common/tls/identity.h"

namespace assay::session {

struct DriverOptions {
  // A new channel, for each connection. nullopt where `identity` is.
  std::function<absl::StatusOr<std::shared_ptr<grpc::Channel>>(const std::optional<tls::Identity>&)>
      dial;
  // Why the coordinator cannot be reached, OK where that is not known; blocks, in a thread of its
  // own that may outlive the driver. Empty: the stream's own status has to do.
  std::function<absl::Status(const std::optional<tls::Identity>&)> diagnose;

  // Renewed before it expires, into the file. nullopt (tests): connections have none.
  std::optional<tls::Identity> identity;
  std::string identity_path;
  absl::Time identity_obtained;  // by this host's clock

  std::shared_ptr<const ProbeSet> probes;
  std::shared_ptr<const guard::Guard> guard;
  spool::Spool* spool = nullptr;
  const Clock* clock = nullptr;
  int max_parallel = 8;
  std::string version;
  std::string hostname;
  std::string os;
  Language log_language = Language::kEnglish;
};

class Driver {
 public:
  explicit Driver(DriverOptions options);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // Until Stop(), then OK; or until the coordinator says that this agent is not allowed
  // (UNAUTHENTICATED, PERMISSION_DENIED). A coordinator that cannot be reached is tried for ever.
  // To be called once. Probes have two seconds to end after that.
  absl::Status Run();
  // From any thread, at any time before the driver is destroyed.
  void Stop();
  // Whether threads of probes or of a diagnosis were left behind, after Run(). The process should
  // then end without running static destructors.
  bool left_threads() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_DRIVER_H_
