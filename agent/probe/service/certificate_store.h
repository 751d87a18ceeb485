// The certificates that HTTPS servers are checked against, read once for all requests of a probe:
// curl would parse the system's store (some 20 ms) inside every handshake that it times.
#ifndef ASSAY_AGENT_PROBE_SERVICE_CERTIFICATE_STORE_H_
#define ASSAY_AGENT_PROBE_SERVICE_CERTIFICATE_STORE_H_

#include <openssl/x509_vfy.h>

#include <memory>

#include "absl/status/statusor.h"
#include "agent/probe/service/http_proxy.h"

namespace assay::agent::service {

// The file of CURL_CA_BUNDLE, else of SSL_CERT_FILE, and the directory of SSL_CERT_DIR; where none
// is set, libcurl's built-in ones (the distribution's). FAILED_PRECONDITION where nothing can be
// read. The store may be shared by any number of SSL_CTX.
absl::StatusOr<std::shared_ptr<X509_STORE>> LoadCertificateStore(
    const EnvironmentLookup& environment);

}  // namespace assay::agent::service

#endif  // ASSAY_AGENT_PROBE_SERVICE_CERTIFICATE_STORE_H_
