// An agent's state directory:
//   identity.pem   key, certificate and CA (common/tls/identity.h); it is there once enrolled
//   coordinator    host:port to dial, one line
//   spool/         results that are not acknowledged yet (agent/spool)
//   corrupt/       spool files that were found damaged
//   lock           held by the process that uses the directory
#ifndef ASSAY_AGENT_ENROLMENT_STATE_H_
#define ASSAY_AGENT_ENROLMENT_STATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/tls/dial.h"
#include "common/tls/identity.h"

namespace assay::enrolment {

struct StatePaths {
  explicit StatePaths(const std::string& directory);
  std::string directory, identity, coordinator, spool, corrupt;
};

struct Enrolment {
  tls::HostPort coordinator;
  tls::Identity identity;
  absl::Time obtained;  // when the identity's file was written, by this host's clock
};

// FAILED_PRECONDITION where the directory holds no enrolment; otherwise what is wrong with it.
absl::StatusOr<Enrolment> LoadEnrolment(const StatePaths& paths);

// Whether there is an identity, readable or not.
bool IsEnrolled(const StatePaths& paths);

}  // namespace assay::enrolment

#endif  // ASSAY_AGENT_ENROLMENT_STATE_H_
