#include "common/tls/connect.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::tls {
namespace {

constexpr size_t kMaxProxyReply = 16 << 10;

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

struct Resolution {
  int error = EAI_SYSTEM;
  std::vector<Address> addresses;
};

Resolution ResolveBlocking(const HostPort& peer, int flags) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  Resolution resolution;
  resolution.error =
      getaddrinfo(peer.host.c_str(), std::to_string(peer.port).c_str(), &hints, &list);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    resolution.addresses.push_back(address);
  }
  if (list != nullptr) freeaddrinfo(list);
  return resolution;
}

absl::Status PeerError(absl::StatusCode code, absl::string_view id, const std::string& name,
                       absl::string_view detail = "") {
  return Error(code, id, {{"peer", name}, {"detail", std::string(detail)}});
}

absl::Status TimedOut(const std::string& name) {
  return PeerError(absl::StatusCode::kDeadlineExceeded, "system.connect_timed_out", name);
}

// What messages call the proxy: nobody looks for the failure there unless told.
std::string NameOf(const Proxy& proxy) {
  return absl::StrCat(proxy.address.ToString(), " ($", proxy.variable, ")");
}

// getaddrinfo() has no time-out, so it runs in a thread that is left alone when time is up; the
// shared state outlives whichever ends first.
absl::StatusOr<std::vector<Address>> Resolve(const HostPort& peer, const std::string& name,
                                             const Deadline& deadline) {
  Resolution resolution = ResolveBlocking(peer, AI_NUMERICHOST);
  if (resolution.error == EAI_NONAME) {
    struct Shared {
      std::mutex mutex;
      std::condition_variable changed;
      std::optional<Resolution> resolution;
    };
    auto shared = std::make_shared<Shared>();
    std::thread([shared, peer] {
      Resolution found = ResolveBlocking(peer, 0);
      std::lock_guard<std::mutex> lock(shared->mutex);
      shared->resolution = std::move(found);
      shared->changed.notify_all();
    }).detach();
    std::unique_lock<std::mutex> lock(shared->mutex);
    if (!shared->changed.wait_until(lock, deadline.end(),
                                    [&] { return shared->resolution.has_value(); })) {
      return PeerError(absl::StatusCode::kDeadlineExceeded, "system.resolve_timed_out", name);
    }
    resolution = *std::move(shared->resolution);
  }
  if (resolution.error != 0 || resolution.addresses.empty()) {
    return PeerError(absl::StatusCode::kUnavailable, "system.not_resolved", name,
                     gai_strerror(resolution.error));
  }
  return resolution.addresses;
}

// 0 once connected, else errno (ETIMEDOUT where the deadline passed).
int ConnectOne(const Address& address, const Deadline& deadline, Socket* socket_out) {
  Socket fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.fd() < 0) return errno;
  if (connect(fd.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (!WaitReady(fd.fd(), POLLOUT, deadline)) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd.fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    if (error != 0) return error;
  }
  *socket_out = std::move(fd);
  return 0;
}

absl::Status ConnectError(const std::string& name, int error) {
  switch (error) {
    case ECONNREFUSED:
      return PeerError(absl::StatusCode::kUnavailable, "system.connect_refused", name);
    case ETIMEDOUT:
      return TimedOut(name);
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
      return PeerError(absl::StatusCode::kUnavailable, "system.unreachable", name,
                       std::strerror(error));
    default:
      return PeerError(absl::StatusCode::kUnavailable, "system.connect_failed", name,
                       std::strerror(error));
  }
}

// Of several failures the one that tells most: a refusal came from the peer, "unreachable" may only
// mean that this host has no IPv6.
int Rank(int error) {
  if (error == ECONNREFUSED) return 3;
  if (error == ETIMEDOUT) return 2;
  return error == ENETUNREACH || error == EADDRNOTAVAIL || error == EAFNOSUPPORT ? 0 : 1;
}

absl::StatusOr<Socket> ConnectDirectly(const HostPort& peer, const std::string& name,
                                       const Deadline& deadline) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<Address> addresses, Resolve(peer, name, deadline));
  int worst = ENETUNREACH;
  for (size_t i = 0; i < addresses.size(); ++i) {
    Deadline share(deadline.Left() / static_cast<int64_t>(addresses.size() - i));
    Socket connected;
    int error = ConnectOne(addresses[i], share, &connected);
    if (error == 0) return connected;
    if (Rank(error) >= Rank(worst)) worst = error;
  }
  return ConnectError(name, worst);
}

absl::Status ProxyError(absl::string_view id, const Proxy& proxy, const HostPort& target,
                        absl::string_view detail) {
  return Error(
      absl::StatusCode::kUnavailable, id,
      {{"proxy", NameOf(proxy)}, {"peer", target.ToString()}, {"detail", std::string(detail)}});
}

absl::Status SendAll(const Socket& socket, absl::string_view text, const Proxy& proxy,
                     const HostPort& target, const Deadline& deadline) {
  while (!text.empty()) {
    ssize_t sent = send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      text.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!WaitReady(socket.fd(), POLLOUT, deadline)) return TimedOut(NameOf(proxy));
    } else if (errno != EINTR) {
      return ProxyError("identity.proxy_closed", proxy, target, std::strerror(errno));
    }
  }
  return absl::OkStatus();
}

// The proxy's answer up to the empty line. One byte at a time: what follows belongs to TLS.
absl::StatusOr<std::string> ReadReply(const Socket& socket, const Proxy& proxy,
                                      const HostPort& target, const Deadline& deadline) {
  std::string reply;
  while (!absl::EndsWith(reply, "\r\n\r\n") && !absl::EndsWith(reply, "\n\n")) {
    char byte = 0;
    ssize_t got = recv(socket.fd(), &byte, 1, 0);
    if (got == 1) {
      reply.push_back(byte);
      if (reply.size() > kMaxProxyReply) {
        return ProxyError("identity.proxy_not_http", proxy, target, "");
      }
    } else if (got == 0) {
      return ProxyError("identity.proxy_closed", proxy, target, "end of stream");
    } else if (errno == EAGAIN) {
      if (!WaitReady(socket.fd(), POLLIN, deadline)) return TimedOut(NameOf(proxy));
    } else if (errno != EINTR) {
      return ProxyError("identity.proxy_closed", proxy, target, std::strerror(errno));
    }
  }
  return reply;
}

absl::Status OpenTunnel(const Socket& socket, const Proxy& proxy, const HostPort& target,
                        const Deadline& deadline) {
  std::string peer = target.ToString();
  std::string request = absl::StrCat("CONNECT ", peer, " HTTP/1.1\r\nHost: ", peer, "\r\n");
  if (std::string authorization = proxy.Authorization(); !authorization.empty()) {
    absl::StrAppend(&request, "Proxy-Authorization: ", authorization, "\r\n");
  }
  absl::StrAppend(&request, "\r\n");
  ASSAY_RETURN_IF_ERROR(SendAll(socket, request, proxy, target, deadline));
  ASSAY_ASSIGN_OR_RETURN(std::string reply, ReadReply(socket, proxy, target, deadline));

  // "HTTP/1.1 200 Connection established"
  absl::string_view line = absl::string_view(reply).substr(0, reply.find('\n'));
  line = absl::StripAsciiWhitespace(line);
  size_t space = line.find(' ');
  int code = 0;
  if (!absl::StartsWith(line, "HTTP/1.") || space == absl::string_view::npos ||
      !absl::SimpleAtoi(line.substr(space + 1, 3), &code)) {
    return ProxyError("identity.proxy_not_http", proxy, target, "");
  }
  if (code >= 200 && code < 300) return absl::OkStatus();
  absl::string_view words = line.substr(space + 1, 80);
  return ProxyError(code == 407 ? "identity.proxy_wants_password" : "identity.proxy_refused", proxy,
                    target, absl::CHexEscape(words));
}

}  // namespace

absl::Duration Deadline::Left() const {
  return std::max(absl::ZeroDuration(), absl::FromChrono(end_ - std::chrono::steady_clock::now()));
}

int Deadline::LeftMs() const {
  return static_cast<int>(absl::ToInt64Milliseconds(
      std::min(absl::Ceil(Left(), absl::Milliseconds(1)), absl::Hours(1))));
}

Socket::Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

bool WaitReady(int fd, short events, const Deadline& deadline) {  // NOLINT(google-runtime-int)
  while (true) {
    pollfd waited = {.fd = fd, .events = events, .revents = 0};
    int ready = poll(&waited, 1, deadline.LeftMs());
    if (ready > 0) return true;
    if (ready == 0 && deadline.Left() == absl::ZeroDuration()) return false;
    if (ready < 0 && errno != EINTR) return true;  // the call that follows will say what is wrong
  }
}

absl::StatusOr<Socket> Connect(const HostPort& target, const std::optional<Proxy>& proxy,
                               const Deadline& deadline) {
  if (!proxy.has_value()) return ConnectDirectly(target, target.ToString(), deadline);
  ASSAY_ASSIGN_OR_RETURN(Socket socket, ConnectDirectly(proxy->address, NameOf(*proxy), deadline));
  ASSAY_RETURN_IF_ERROR(OpenTunnel(socket, *proxy, target, deadline));
  return socket;
}

}  // namespace assay::tls
