#include "common/tls/handshake.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/tls/sigpipe_block.h"

namespace assay::tls {
namespace {

constexpr unsigned char kHttp2[] = {2, 'h', '2'};

absl::Status HandshakeSetupError() {
  return Error(absl::StatusCode::kInternal, "identity.openssl", {{"detail", TakeOpenSslError()}});
}

bool IsAddress(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

absl::Status UseIdentity(SSL* ssl, const Identity& identity) {
  ASSAY_ASSIGN_OR_RETURN(KeyPtr key, ParseKey(identity.key_pem));
  ASSAY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> chain, ParseCertificates(identity.chain_pem));
  ASSAY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> roots, ParseCertificates(identity.ca_pem));
  StorePtr store(X509_STORE_new());
  if (store == nullptr || SSL_use_certificate(ssl, chain.front().get()) != 1 ||
      SSL_use_PrivateKey(ssl, key.get()) != 1) {
    return HandshakeSetupError();
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_add1_chain_cert(ssl, chain[i].get()) != 1) return HandshakeSetupError();
  }
  for (const CertificatePtr& root : roots) {
    if (X509_STORE_add_cert(store.get(), root.get()) != 1) return HandshakeSetupError();
  }
  if (SSL_set1_verify_cert_store(ssl, store.get()) != 1) return HandshakeSetupError();
  return absl::OkStatus();
}

absl::Status CheckPeer(SSL* ssl, const HostPort& peer, absl::Time now) {
  X509_VERIFY_PARAM* rules = SSL_get0_param(ssl);
  const int named = IsAddress(peer.host) ? X509_VERIFY_PARAM_set1_ip_asc(rules, peer.host.c_str())
                                         : X509_VERIFY_PARAM_set1_host(rules, peer.host.c_str(), 0);
  if (named != 1) return HandshakeSetupError();
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  X509_VERIFY_PARAM_set_time(rules, absl::ToTimeT(now));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsClient> TlsClient::Make(const HostPort& peer,
                                          const std::optional<Identity>& identity, absl::Time now) {
  ERR_clear_error();
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return HandshakeSetupError();
  }
  SslPtr ssl(SSL_new(context.get()));
  if (ssl == nullptr || SSL_set_alpn_protos(ssl.get(), kHttp2, sizeof(kHttp2)) != 0) {
    return HandshakeSetupError();
  }
  if (!IsAddress(peer.host) && SSL_set_tlsext_host_name(ssl.get(), peer.host.c_str()) != 1) {
    return HandshakeSetupError();
  }
  if (identity.has_value()) {
    ASSAY_RETURN_IF_ERROR(UseIdentity(ssl.get(), *identity));
    ASSAY_RETURN_IF_ERROR(CheckPeer(ssl.get(), peer, now));
  }
  return TlsClient(std::move(context), std::move(ssl), identity.has_value());
}

// Repeats `step` until it is done, fails or the deadline passes.
template <typename Step>
TlsOutcome TlsClient::Drive(const Socket& socket, const Deadline& deadline, Step step) {
  SigpipeBlock guard;
  while (true) {
    ERR_clear_error();
    errno = 0;
    const int done = step();
    if (done > 0) return {};
    const int system_error = errno;
    const int error = SSL_get_error(ssl_.get(), done);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      return Explain(error, system_error);
    }
    if (!WaitReady(socket.fd(), error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) {
      return {TlsEnd::kTimedOut, X509_V_OK, ""};
    }
  }
}

TlsOutcome TlsClient::Handshake(const Socket& socket, const Deadline& deadline) {
  if (SSL_set_fd(ssl_.get(), socket.fd()) != 1) return {TlsEnd::kOther, 0, TakeOpenSslError()};
  TlsOutcome outcome = Drive(socket, deadline, [this] { return SSL_connect(ssl_.get()); });
  // The handshake goes on whatever is wrong with the peer's certificate, so that it can be shown;
  // and what is wrong with it comes before what the peer thinks of ours.
  if (checks_peer_ && peer_certificate() != nullptr &&
      SSL_get_verify_result(ssl_.get()) != X509_V_OK) {
    outcome.end = TlsEnd::kCertificate;
    outcome.verify_error = static_cast<int>(SSL_get_verify_result(ssl_.get()));
  }
  return outcome;
}

TlsOutcome TlsClient::AwaitData(const Socket& socket, const Deadline& deadline) {
  char byte = 0;
  return Drive(socket, deadline, [this, &byte] { return SSL_read(ssl_.get(), &byte, 1); });
}

TlsOutcome TlsClient::Explain(int ssl_error, int system_error) {
  const unsigned long code = ERR_peek_error();  // NOLINT(google-runtime-int)
  const int reason = ERR_GET_REASON(code);
  TlsOutcome outcome = {TlsEnd::kOther, X509_V_OK, TakeOpenSslError()};
  if (ssl_error == SSL_ERROR_ZERO_RETURN) {
    outcome = {TlsEnd::kClosed, X509_V_OK, "end of stream"};
  } else if (ssl_error == SSL_ERROR_SYSCALL && code == 0) {
    outcome = {TlsEnd::kClosed, X509_V_OK,
               system_error == 0 ? "end of stream" : std::strerror(system_error)};
  } else if (ssl_error != SSL_ERROR_SSL || ERR_GET_LIB(code) != ERR_LIB_SSL) {
    return outcome;
  } else if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    outcome.end = TlsEnd::kClosed;
  } else if (reason >= SSL_AD_REASON_OFFSET) {
    outcome.end = TlsEnd::kAlert;
  } else if (peer_certificate() == nullptr &&
             (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_UNEXPECTED_MESSAGE ||
              reason == SSL_R_RECORD_LENGTH_MISMATCH || reason == SSL_R_BAD_RECORD_TYPE ||
              reason == SSL_R_PACKET_LENGTH_TOO_LONG || reason == SSL_R_BAD_LENGTH ||
              reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_UNEXPECTED_RECORD)) {
    outcome.end = TlsEnd::kNotTls;
  }
  return outcome;
}

bool TlsClient::negotiated_http2() const {
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
  return size == 2 && std::memcmp(protocol, "h2", 2) == 0;
}

std::vector<CertificatePtr> TlsClient::PeerChain() const {
  std::vector<CertificatePtr> chain;
  STACK_OF(X509)* sent = SSL_get_peer_cert_chain(ssl_.get());
  for (int i = 0; sent != nullptr && i < sk_X509_num(sent); ++i) {
    X509* certificate = sk_X509_value(sent, i);
    X509_up_ref(certificate);
    chain.emplace_back(certificate);
  }
  return chain;
}

}  // namespace assay::tls
