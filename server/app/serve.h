// `assayd serve`: a coordinator from its directory.
#ifndef ASSAY_SERVER_APP_SERVE_H_
#define ASSAY_SERVER_APP_SERVE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock/clock.h"
#include "server/app/settings.h"

namespace assay::app {

struct ServeOptions {
  std::string directory;
  std::string listen;  // replaces the settings' where not empty
  absl::Duration agent_certificate_lifetime = absl::Hours(24 * 30);
  absl::Duration heartbeat_interval = absl::Seconds(10);
};

// A running coordinator. Stops when destroyed: agents are asked to come back later, runs go on
// after the next start.
class Coordinator {
 public:
  // Everything is up and listening when this returns.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(const ServeOptions& options,
                                                            const Clock& clock);
  virtual ~Coordinator() = default;

  // host:port that is bound.
  virtual std::string listening_address() const = 0;
  // What is due from time to time: serving certificate, expired sessions. Call every few seconds.
  virtual void Housekeep() = 0;
  // Graceful: at most about ten seconds.
  virtual void Stop() = 0;
};

}  // namespace assay::app

#endif  // ASSAY_SERVER_APP_SERVE_H_
