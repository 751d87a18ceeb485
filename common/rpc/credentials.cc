#include "common/rpc/credentials.h"

#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/tls/proxy.h"

namespace assay::rpc {
namespace {

// Trailers carry error details; gRPC's default of 8 KiB is too tight for them.
constexpr int kMaxMetadataBytes = 64 << 10;
constexpr absl::Duration kShortestClientPing = absl::Seconds(15);

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(
      absl::ToInt64Milliseconds(std::clamp(duration, absl::ZeroDuration(), absl::Hours(24))));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentialsFromFile(
    const std::string& identity_path, absl::Duration refresh) {
  ASSAY_RETURN_IF_ERROR(tls::LoadIdentity(identity_path).status());
  const auto seconds =
      static_cast<unsigned int>(std::max<int64_t>(1, absl::ToInt64Seconds(refresh)));
  // One file is key, chain and root at once: OpenSSL picks from PEM what it looks for, and a single
  // rename changes all three together. The leaf among the roots is harmless: it may sign nothing.
  auto provider = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      identity_path, identity_path, identity_path, seconds);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpc::experimental::TlsServerCredentials(options);
}

void ConfigureServer(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(absl::Seconds(30)));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(absl::Seconds(20)));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Less than what clients are told, by a margin for packets that bunch up on the way.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             Milliseconds(kShortestClientPing * 2 / 3));
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const tls::HostPort& coordinator, absl::string_view ca_pem,
    const std::optional<tls::Identity>& identity, const ChannelOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(std::optional<tls::Proxy> proxy,
                         tls::ProxyFor(coordinator, tls::ProcessEnvironment()));
  grpc::ChannelArguments arguments;
  if (proxy.has_value()) {
    arguments.SetString(GRPC_ARG_HTTP_PROXY, absl::StrCat("http://", proxy->address.ToString()));
    // gRPC takes a password out of the URL only where it has no "@"; its own argument takes any.
    if (std::string authorization = proxy->Authorization(); !authorization.empty()) {
      arguments.SetString("grpc.http_connect_headers",
                          absl::StrCat("Proxy-Authorization:", authorization));
    }
  } else {
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  }
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   Milliseconds(std::max(options.ping_interval, kShortestClientPing)));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options.ping_timeout));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, options.ping_without_calls ? 1 : 0);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, Milliseconds(options.first_backoff));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, Milliseconds(options.max_backoff));
  // In spite of its name this bounds one attempt to connect.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, Milliseconds(absl::Seconds(10)));
  // gRPC resolves again only this long after the last time, and does not dial before: with its 30 s
  // a restarted coordinator would stay unseen for that long.
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetServiceConfigJSON("{}");

  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = std::string(ca_pem);
  if (identity.has_value()) {
    ssl.pem_private_key = identity->key_pem;
    ssl.pem_cert_chain = identity->chain_pem;
  }
  return grpc::CreateCustomChannel(absl::StrCat("dns:///", coordinator.ToString()),
                                   grpc::SslCredentials(ssl), arguments);
}

}  // namespace assay::rpc
