// Makes an agent of this host: redeems a join token for a certificate.
#ifndef ASSAY_AGENT_ENROLMENT_JOIN_H_
#define ASSAY_AGENT_ENROLMENT_JOIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "common/tls/dial.h"

namespace assay::enrolment {

struct JoinOptions {
  tls::HostPort coordinator;
  std::string token;
  std::string ca_fingerprint;  // "sha256:" and 64 hex digits
  std::string state_directory;
  // Take the place of an enrolment that is there. Results in the spool stay.
  bool replace = false;
  std::string version;
  absl::Duration timeout = absl::Seconds(20);  // of each exchange
};

// Writes the state directory (state.h), which is created. The token is used up only when everything
// else has been found in order: the directory can be written and is used by nobody, the coordinator
// answers and has the CA. On failure the directory is as it was before.
// ALREADY_EXISTS: enrolled already, and not `replace`. UNAVAILABLE: another process uses the
// directory, or the coordinator cannot be reached. UNAUTHENTICATED: the token is not valid.
// INVALID_ARGUMENT: a malformed fingerprint. FAILED_PRECONDITION: the token was for a person.
absl::StatusOr<v1::EnrolResponse> Join(const JoinOptions& options);

}  // namespace assay::enrolment

#endif  // ASSAY_AGENT_ENROLMENT_JOIN_H_
