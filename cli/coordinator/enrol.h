// How a person becomes known to a coordinator: a token in, a context out.
#ifndef ASSAY_CLI_COORDINATOR_ENROL_H_
#define ASSAY_CLI_COORDINATOR_ENROL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "cli/coordinator/context.h"

namespace assay::cli {

struct Enrolled {
  Context context;  // not yet saved
  std::string person;
  v1::Role role = v1::ROLE_UNSPECIFIED;
};

// Makes a key here, has it certified, and checks what comes back. The token goes only to a peer
// that proved to be the coordinator of the fingerprint. FAILED_PRECONDITION for a token that is an
// agent's (it is used up then).
absl::StatusOr<Enrolled> EnrolPerson(const tls::HostPort& coordinator, const std::string& token,
                                     const std::string& ca_fingerprint, absl::Duration timeout);

}  // namespace assay::cli

#endif  // ASSAY_CLI_COORDINATOR_ENROL_H_
