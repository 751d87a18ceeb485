// One TLS handshake as a client, over a connected socket, with a deadline.
#ifndef ASSAY_COMMON_TLS_HANDSHAKE_H_
#define ASSAY_COMMON_TLS_HANDSHAKE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/tls/connect.h"
#include "common/tls/dial.h"
#include "common/tls/openssl.h"

namespace assay::tls {

// How a step of the conversation ended.
enum class TlsEnd {
  kOk,           // done, or (when reading) the peer sent something
  kTimedOut,     // nothing within the time
  kClosed,       // the peer closed or reset the connection
  kAlert,        // the peer sent a fatal alert; `detail` names it
  kNotTls,       // what the peer sent is not TLS
  kCertificate,  // the peer's certificate was refused here; `verify_error` says why
  kOther,        // see `detail`
};

struct TlsOutcome {
  TlsEnd end = TlsEnd::kOk;
  int verify_error = X509_V_OK;
  std::string detail;
};

class TlsClient {
 public:
  // Offers HTTP/2, as gRPC does. With an identity the peer's certificate must be issued by its CA,
  // name `peer` and be valid at `now`, and ours is presented; without one nothing is checked.
  static absl::StatusOr<TlsClient> Make(const HostPort& peer,
                                        const std::optional<Identity>& identity, absl::Time now);

  TlsOutcome Handshake(const Socket& socket, const Deadline& deadline);
  // Waits for the first bytes of the peer. A TLS 1.3 server that refuses our certificate says so
  // only after the handshake is over for us (RFC 8446, section 4.4.2.4).
  TlsOutcome AwaitData(const Socket& socket, const Deadline& deadline);

  bool negotiated_http2() const;
  // The peer's certificate as sent, leaf first; null and empty before the handshake.
  X509* peer_certificate() const { return SSL_get0_peer_certificate(ssl_.get()); }
  std::vector<CertificatePtr> PeerChain() const;

 private:
  TlsClient(SslContextPtr context, SslPtr ssl, bool checks_peer)
      : context_(std::move(context)), ssl_(std::move(ssl)), checks_peer_(checks_peer) {}
  template <typename Step>
  TlsOutcome Drive(const Socket& socket, const Deadline& deadline, Step step);
  TlsOutcome Explain(int ssl_error, int system_error);

  SslContextPtr context_;
  SslPtr ssl_;
  bool checks_peer_;
};

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_HANDSHAKE_H_
