// URLs as people type them.
#ifndef ASSAY_AGENT_PROBE_SERVICE_HTTP_URL_H_
#define ASSAY_AGENT_PROBE_SERVICE_HTTP_URL_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"

namespace assay::agent {

// Scheme, target, port and path of an HTTP probe; without a scheme it is http. A fragment is
// dropped: it never leaves the client. INVALID_ARGUMENT for what is no http or https URL, and for
// one with a user name or password.
absl::StatusOr<v1::HttpProbe> ParseHttpUrl(absl::string_view url);

}  // namespace assay::agent

#endif  // ASSAY_AGENT_PROBE_SERVICE_HTTP_URL_H_
