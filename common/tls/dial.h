// Before and beside gRPC: the first contact of a new agent, and finding out why a connection fails.
#ifndef ASSAY_COMMON_TLS_DIAL_H_
#define ASSAY_COMMON_TLS_DIAL_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/tls/identity.h"

namespace assay::tls {

// "host:port", "[v6]:port"; the port defaults to 7443.
struct HostPort {
  std::string host;  // without brackets
  int port = 7443;
  std::string ToString() const;
};
// A name or an address, with or without a port of 1 to 65535; an IPv6 address without brackets has
// no port. INVALID_ARGUMENT, naming the text, for anything else.
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text, int default_port = 7443);

// Connects by TLS (through the HTTP proxy that common/tls/proxy.h finds in the environment, by
// CONNECT) without trusting the peer, and returns that certificate of the chain it presents whose
// SHA-256 is `ca_fingerprint` ("sha256:" and 64 hex digits), as PEM. PERMISSION_DENIED where none
// is, or where that one did not issue the peer's certificate: somebody else answers.
// INVALID_ARGUMENT for a malformed fingerprint. `timeout` covers everything, name lookup included.
absl::StatusOr<std::string> FetchCa(const HostPort& coordinator, absl::string_view ca_fingerprint,
                                    absl::Duration timeout);

// Why a gRPC channel to the coordinator cannot be made, in one sentence: name, refused, timed out,
// not TLS, another coordinator's certificate, own certificate expired or refused, proxy. OK where a
// handshake works. Without an identity the peer's certificate is not checked. `now` is this host's
// wall clock, against which certificates are judged.
absl::Status Diagnose(const HostPort& coordinator, const std::optional<Identity>& identity,
                      absl::Duration timeout, absl::Time now = absl::Now());

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_DIAL_H_
