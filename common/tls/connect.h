// A TCP connection to a named peer, directly or through an HTTP proxy, before a deadline.
#ifndef ASSAY_COMMON_TLS_CONNECT_H_
#define ASSAY_COMMON_TLS_CONNECT_H_

#include <chrono>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/tls/dial.h"
#include "common/tls/proxy.h"

namespace assay::tls {

// A moment of the steady clock: a wall clock that is set meanwhile neither ends nor prolongs a
// wait.
class Deadline {
 public:
  explicit Deadline(absl::Duration from_now)
      : end_(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(from_now)) {}
  // Zero once passed.
  absl::Duration Left() const;
  // For poll(): rounded up, so that it never spins.
  int LeftMs() const;
  std::chrono::steady_clock::time_point end() const { return end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

// Owns a connected, non-blocking socket.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Waits until the descriptor is ready for `events` (POLLIN, POLLOUT); false: the deadline passed.
bool WaitReady(int fd, short events, const Deadline& deadline);  // NOLINT(google-runtime-int)

// Tries the peer's addresses, IPv6 and IPv4, one after another, each with its share of the time
// left. Through a proxy the name is resolved by the proxy. Errors name the peer (or proxy) and say
// whether the name did not resolve, or the connection was refused, unreachable or timed out.
absl::StatusOr<Socket> Connect(const HostPort& target, const std::optional<Proxy>& proxy,
                               const Deadline& deadline);

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_CONNECT_H_
