// From the parameters of an HTTP probe to what is asked of whom.
#ifndef ASSAY_AGENT_PROBE_SERVICE_HTTP_TARGET_H_
#define ASSAY_AGENT_PROBE_SERVICE_HTTP_TARGET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "assay/v1/model.pb.h"

namespace assay::agent::service {

struct HttpTarget {
  std::string url;
  std::string url_host;     // name or address in the URL, without brackets
  std::string lookup_host;  // whose address is connected to; differs with HttpProbe.host_name
  uint16_t port = 0;
  bool secure = false;
};

// Fills in the defaults of every field that is 0 or empty.
void FillHttpDefaults(v1::HttpProbe& probe);

// INVALID_ARGUMENT for a parameter out of its range. Only letters, digits, '-', '_' and '.' stand
// in names, and nothing but visible characters in paths, so that the URL says what the fields say.
absl::StatusOr<HttpTarget> MakeHttpTarget(const v1::HttpProbe& probe);

}  // namespace assay::agent::service

#endif  // ASSAY_AGENT_PROBE_SERVICE_HTTP_TARGET_H_
