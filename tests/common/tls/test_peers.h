// Peers on loopback for tests: whatever a function does with an accepted connection, among them a
// TLS server and an HTTP CONNECT proxy.
#ifndef ASSAY_TESTS_COMMON_TLS_TEST_PEERS_H_
#define ASSAY_TESTS_COMMON_TLS_TEST_PEERS_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/tls/dial.h"
#include "common/tls/openssl.h"

namespace assay::testing {

// Listens on a free port of 127.0.0.1 and runs `serve` in a thread for each connection.
class Listener {
 public:
  explicit Listener(std::function<void(int fd)> serve) : serve_(std::move(serve)) {
    std::signal(SIGPIPE, SIG_IGN);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd_, 16) != 0 ||
        getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~Listener() {
    shutdown(fd_, SHUT_RDWR);
    acceptor_.join();
    for (int open : connections_) shutdown(open, SHUT_RDWR);
    for (std::thread& worker : workers_) worker.join();
    for (int open : connections_) close(open);
    close(fd_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int port() const { return port_; }
  tls::HostPort address(const std::string& host = "127.0.0.1") const { return {host, port_}; }

 private:
  void Accept() {
    while (true) {
      int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      connections_.push_back(fd);
      workers_.emplace_back([this, fd] {
        serve_(fd);
        shutdown(fd, SHUT_RDWR);
      });
    }
  }

  std::function<void(int)> serve_;
  int fd_;
  int port_;
  std::thread acceptor_;
  // Touched by the acceptor only, then by the destructor.
  std::vector<std::thread> workers_;
  std::vector<int> connections_;
};

inline void SendText(int fd, const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    ssize_t now = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return;
    sent += static_cast<size_t>(now);
  }
}

// Reads until the other side closes.
inline void Drain(int fd) {
  char buffer[4096];
  while (recv(fd, buffer, sizeof(buffer), 0) > 0) {
  }
}

struct TlsServerOptions {
  int version = TLS1_3_VERSION;
  bool http2 = true;
  bool require_client = false;  // issued by the identity's CA
};

// Handshakes as a server by OpenSSL itself, with alerts as the standard has them, then waits for
// the other side to close.
inline void ServeTls(int fd, const tls::Identity& identity, const TlsServerOptions& options) {
  tls::SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_min_proto_version(context.get(), options.version);
  SSL_CTX_set_max_proto_version(context.get(), options.version);
  auto key = *tls::ParseKey(identity.key_pem);
  auto chain = *tls::ParseCertificates(identity.chain_pem);
  SSL_CTX_use_certificate(context.get(), chain[0].get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  for (size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context.get(), chain[i].get());
  if (options.require_client) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), chain.back().get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (options.http2) {
    SSL_CTX_set_alpn_select_cb(
        context.get(),
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char*, unsigned,
           void*) {
          *out = reinterpret_cast<const unsigned char*>("h2");
          *size = 2;
          return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
  }
  tls::SslPtr ssl(SSL_new(context.get()));
  SSL_set_fd(ssl.get(), fd);
  if (SSL_accept(ssl.get()) == 1) {
    SSL_write(ssl.get(), "settings", 8);
    char byte;
    SSL_read(ssl.get(), &byte, 1);
  }
  ERR_clear_error();
}

// An HTTP proxy that knows CONNECT only, and takes every name for this host.
class ConnectProxy {
 public:
  // `authorization`: the header line it wants, "" for none.
  explicit ConnectProxy(std::string authorization = "")
      : authorization_(std::move(authorization)), listener_([this](int fd) { Serve(fd); }) {}
  int port() const { return listener_.port(); }
  std::vector<std::string> requests() {
    std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }

 private:
  void Serve(int fd) {
    std::string request;
    char byte;
    while (!absl::EndsWith(request, "\r\n\r\n") && recv(fd, &byte, 1, 0) == 1) request += byte;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(request);
    }
    if (!authorization_.empty() && !absl::StrContains(request, authorization_)) {
      return SendText(fd, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    }
    size_t colon = request.find(':');
    int port = std::atoi(request.c_str() + (colon == std::string::npos ? 0 : colon + 1));
    int onward = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (connect(onward, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      SendText(fd, "HTTP/1.1 502 Bad Gateway\r\n\r\n");
    } else {
      SendText(fd, "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
      Relay(fd, onward);
    }
    close(onward);
  }

  static void Relay(int a, int b) {
    pollfd ends[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    while (poll(ends, 2, -1) > 0) {
      for (int i = 0; i < 2; ++i) {
        if (ends[i].revents == 0) continue;
        char buffer[16384];
        ssize_t got = recv(ends[i].fd, buffer, sizeof(buffer), 0);
        if (got <= 0) return;
        SendText(ends[1 - i].fd, std::string(buffer, static_cast<size_t>(got)));
      }
    }
  }

  std::string authorization_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  Listener listener_;  // last: its threads use the others
};

// Sets environment variables, and takes away every other one that names a proxy, until destroyed.
class ScopedProxyVariables {
 public:
  explicit ScopedProxyVariables(
      std::initializer_list<std::pair<const char*, std::string>> values = {}) {
    for (const char* name : kNames) {
      if (const char* old = std::getenv(name)) saved_.emplace_back(name, old);
      unsetenv(name);
    }
    for (const auto& [name, value] : values) setenv(name, value.c_str(), 1);
  }
  ~ScopedProxyVariables() {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : saved_) setenv(name.c_str(), value.c_str(), 1);
  }
  ScopedProxyVariables(const ScopedProxyVariables&) = delete;
  ScopedProxyVariables& operator=(const ScopedProxyVariables&) = delete;

 private:
  static constexpr const char* kNames[] = {"grpc_proxy", "https_proxy",   "HTTPS_PROXY",
                                           "http_proxy", "no_grpc_proxy", "no_proxy",
                                           "NO_PROXY"};
  std::vector<std::pair<std::string, std::string>> saved_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_COMMON_TLS_TEST_PEERS_H_
