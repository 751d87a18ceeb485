// Before and beside gRPC: the first contact of a new agent, and finding out why a connection fails.
#ifndef ASSAY_COMMON_TLS_DIAL_H_
#define ASSAY_COMMON_TLS_DIAL_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/tls/identity.h"

namespace assay::tls {

// "host:port", "[v6]:port"; the port defaults to 7443.
struct HostPort {
  std::string host;
  int port = 7443;
  std::string ToString() const;
};
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text);

// Connects by TLS (through the HTTP proxy of https_proxy/HTTPS_PROXY and no_proxy where set, by
// CONNECT) without trusting the peer, and returns that certificate of the chain it presents whose
// SHA-256 is `ca_fingerprint`, as PEM. PERMISSION_DENIED where none is: somebody else answers.
absl::StatusOr<std::string> FetchCa(const HostPort& coordinator, absl::string_view ca_fingerprint,
                                    absl::Duration timeout);

// Why a gRPC channel to the coordinator cannot be made, in one sentence: name, refused, timed out,
// not TLS, another coordinator's certificate, own certificate expired or refused, proxy. OK where a
// handshake works.
absl::Status Diagnose(const HostPort& coordinator, const std::optional<Identity>& identity,
                      absl::Duration timeout);

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_DIAL_H_
