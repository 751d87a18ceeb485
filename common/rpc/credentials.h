// How gRPC is spoken here: mutual TLS, keepalive, sizes. Both ends in one place because their
// settings must agree.
#ifndef ASSAY_COMMON_RPC_CREDENTIALS_H_
#define ASSAY_COMMON_RPC_CREDENTIALS_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/tls/dial.h"
#include "common/tls/identity.h"

namespace assay::rpc {

// No message may be larger, either way.
constexpr int kMaxMessageBytes = 64 << 20;

// Serves the identity in a file that tls::SaveIdentity() wrote, and again whenever the file has
// changed, looked at every `refresh` (whole seconds, at least 1): new connections get the new
// certificate, old ones live on. While the file is missing the last one is served; one whose key
// and certificate differ breaks new connections, so replace it by tls::SaveIdentity(). A client's
// certificate is asked for and must be of the identity's CA where it is given; it need not be given
// (enrolment has none), so every handler asks PeerCertificate(). The file is checked now; errors
// are LoadIdentity()'s.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentialsFromFile(
    const std::string& identity_path, absl::Duration refresh = absl::Seconds(30));

// Sizes and keepalive of a coordinator: pings that ChannelOptions allows are welcome, and a client
// that has vanished is noticed within about a minute. A port that is taken is an error (the builder
// returns no server) rather than shared.
void ConfigureServer(grpc::ServerBuilder& builder);

struct ChannelOptions {
  // At least 15 s, else the server ends the connection (ENHANCE_YOUR_CALM).
  absl::Duration ping_interval = absl::Seconds(20);
  absl::Duration ping_timeout = absl::Seconds(10);
  bool ping_without_calls = false;
  // Waits between attempts to connect grow from the first to the second, with jitter.
  absl::Duration first_backoff = absl::Milliseconds(500);
  absl::Duration max_backoff = absl::Seconds(15);
};

// A channel of its own connection to the coordinator, through the proxy that tls::ProxyFor() finds.
// Connects when first used. Identity and CA are fixed: after a renewal make a new channel.
// INVALID_ARGUMENT where the proxy's variable is malformed.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const tls::HostPort& coordinator, absl::string_view ca_pem,
    const std::optional<tls::Identity>& identity, const ChannelOptions& options = {});

}  // namespace assay::rpc

#endif  // ASSAY_COMMON_RPC_CREDENTIALS_H_
