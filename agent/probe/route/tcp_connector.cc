#include "agent/probe/route/tcp_connector.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "agent/probe/route/echo_engine.h"

namespace assay::agent::route {
namespace {

constexpr int64_t kMaxConnectWaitNs = 50'000'000;
constexpr int64_t kConnectProgressNs = 100'000'000;
// How long a closing connection may wait for the far side's FIN, and all of them after the last
// connect.
constexpr int64_t kCloseNs = 1'000'000'000;
constexpr int64_t kFinalCloseNs = 300'000'000;
// Bytes read from a talkative far side before it is left alone.
constexpr int kMaxReads = 16;

uint32_t SynRetransmits(int fd) {
  tcp_info info = {};
  socklen_t length = sizeof(info);
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return 0;
  bool has_field = length >= offsetof(tcp_info, tcpi_total_retrans) + sizeof(uint32_t);
  return has_field ? info.tcpi_total_retrans : 0;
}

int PendingError(int fd) {
  int error = 0;
  socklen_t length = sizeof(error);
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

}  // namespace

v1::ConnectOutcome OutcomeOfErrno(int error) {
  switch (error) {
    case 0:
      return v1::CONNECT_OUTCOME_CONNECTED;
    case ECONNREFUSED:
      return v1::CONNECT_OUTCOME_REFUSED;
    case ETIMEDOUT:
      return v1::CONNECT_OUTCOME_TIMED_OUT;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENONET:
      return v1::CONNECT_OUTCOME_UNREACHABLE;
    case ECONNRESET:
    case EPIPE:
      return v1::CONNECT_OUTCOME_RESET;
    default:
      return v1::CONNECT_OUTCOME_OTHER;
  }
}

bool IsLocalRefusal(int error) {
  switch (error) {
    case 0:
    case EINPROGRESS:
    case ECONNREFUSED:  // over loopback the answer is there at once
    case ECONNRESET:
    case ETIMEDOUT:
      return false;
    default:
      return true;
  }
}

TcpConnector::TcpConnector(const ConnectPlan& plan, uint64_t seed)
    : plan_(plan), pacer_(plan.interval_ns, seed, MonotonicNowNs()) {}

TcpConnector::~TcpConnector() {
  for (const InFlight& connect : in_flight_) close(connect.fd);
  for (const Closing& closing : closing_) close(closing.fd);
}

TcpConnector::End TcpConnector::Run(const std::atomic<bool>* cancelled, int64_t deadline_ns,
                                    const std::function<void(double)>& progress) {
  int64_t next_progress_ns = 0;
  int64_t last_settled_ns = 0;
  while (true) {
    int64_t now_ns = MonotonicNowNs();
    bool stop = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    bool settled = attempted_ == plan_.count && in_flight_.empty();
    if (settled && last_settled_ns == 0) last_settled_ns = now_ns;
    bool closed = closing_.empty() || now_ns >= last_settled_ns + kFinalCloseNs;
    if (settled && (closed || stop || now_ns >= deadline_ns)) break;
    if (stop || now_ns >= deadline_ns) {
      truncated_ = true;
      ended_at_ns_ = now_ns;
      return stop ? End::kCancelled : End::kDeadline;
    }
    bool starting = attempted_ < plan_.count && in_flight_.size() < kMaxInFlight;
    if (starting && pacer_.due_ns() <= now_ns) {
      Start(now_ns);
      continue;
    }
    if (progress && now_ns >= next_progress_ns) {
      progress(static_cast<double>(attempted_ - in_flight_.size()) / plan_.count);
      next_progress_ns = now_ns + kConnectProgressNs;
    }
    int64_t until_ns = std::min(NextEventNs(starting), deadline_ns);
    Poll(std::clamp<int64_t>(until_ns - now_ns, 0, kMaxConnectWaitNs));
  }
  ended_at_ns_ = MonotonicNowNs();
  return End::kDone;
}

int64_t TcpConnector::NextEventNs(bool starting) const {
  int64_t next_ns = starting ? pacer_.due_ns() : INT64_MAX;
  for (const InFlight& connect : in_flight_) {
    next_ns = std::min(next_ns, rows_[connect.row].start_ns + plan_.timeout_ns);
  }
  for (const Closing& closing : closing_) next_ns = std::min(next_ns, closing.until_ns);
  return next_ns;
}

void TcpConnector::Start(int64_t now_ns) {
  ++attempted_;
  pacer_.Advance(now_ns);
  int fd = socket(plan_.address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                  IPPROTO_TCP);
  int error = fd < 0 ? errno : 0;
  int64_t start_ns = MonotonicNowNs();
  if (fd >= 0) {
    const auto* address = reinterpret_cast<const sockaddr*>(&plan_.address.storage);
    if (connect(fd, address, plan_.address.length) != 0) error = errno;
  }
  if (IsLocalRefusal(error)) {
    ++refusals_;
    refusal_error_ = error;
    if (fd >= 0) close(fd);
    return;
  }
  InFlight started{fd, rows_.size()};
  rows_.push_back({.start_ns = start_ns});
  if (error == EINPROGRESS) {
    in_flight_.push_back(started);
  } else {
    Settle(started, error, MonotonicNowNs());
  }
}

void TcpConnector::Settle(const InFlight& connect, int error, int64_t now_ns) {
  Row& row = rows_[connect.row];
  row.duration_ns = now_ns - row.start_ns;
  row.error = error;
  row.outcome = OutcomeOfErrno(error);
  row.retransmits = SynRetransmits(connect.fd);
  if (error == 0) {
    CloseCleanly(connect.fd, now_ns);
  } else {
    close(connect.fd);
  }
}

void TcpConnector::CloseCleanly(int fd, int64_t now_ns) {
  if (shutdown(fd, SHUT_WR) != 0 || ReadToEnd(fd)) {
    close(fd);
    return;
  }
  if (closing_.size() >= kMaxInFlight) {
    close(closing_.front().fd);
    closing_.erase(closing_.begin());
  }
  closing_.push_back({fd, now_ns + kCloseNs});
}

bool TcpConnector::ReadToEnd(int fd) {
  char buffer[4096];
  for (int i = 0; i < kMaxReads; ++i) {
    ssize_t length = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (length > 0) continue;
    return length == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  }
  return false;
}

void TcpConnector::Poll(int64_t wait_ns) {
  std::vector<pollfd> polls;
  polls.reserve(in_flight_.size() + closing_.size());
  for (const InFlight& connect : in_flight_) polls.push_back({connect.fd, POLLOUT, 0});
  for (const Closing& closing : closing_) polls.push_back({closing.fd, POLLIN, 0});
  timespec timeout = {wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
  ppoll(polls.data(), polls.size(), &timeout, nullptr);
  int64_t now_ns = MonotonicNowNs();

  size_t connects = in_flight_.size();
  std::vector<InFlight> still;
  std::vector<Closing> old_closing;
  old_closing.swap(closing_);  // Settle adds to closing_
  for (size_t i = 0; i < connects; ++i) {
    const InFlight& connect = in_flight_[i];
    if (polls[i].revents != 0) {
      Settle(connect, PendingError(connect.fd), now_ns);
    } else if (now_ns >= rows_[connect.row].start_ns + plan_.timeout_ns) {
      Settle(connect, ETIMEDOUT, now_ns);
    } else {
      still.push_back(connect);
    }
  }
  in_flight_.swap(still);
  for (size_t i = 0; i < old_closing.size(); ++i) {
    const Closing& closing = old_closing[i];
    bool readable = polls[connects + i].revents != 0;
    if ((readable && ReadToEnd(closing.fd)) || now_ns >= closing.until_ns) {
      close(closing.fd);
    } else {
      closing_.push_back(closing);
    }
  }
}

TcpConnector::Outcome TcpConnector::Finish(int64_t offset_origin_ns) const {
  Outcome outcome;
  outcome.truncated = truncated_;
  v1::TcpEvidence& evidence = outcome.evidence;
  for (const Row& row : rows_) {
    if (truncated_ && row.start_ns > ended_at_ns_ - plan_.timeout_ns) continue;
    if (row.outcome == v1::CONNECT_OUTCOME_UNSPECIFIED) continue;
    evidence.add_start_offset_ns(std::max<int64_t>(0, row.start_ns - offset_origin_ns));
    evidence.add_outcomes(row.outcome);
    evidence.add_connect_ns(row.duration_ns);
    evidence.add_syn_retransmits(row.retransmits);
    evidence.add_connect_errno(row.error);
  }
  evidence.set_start_failures(refusals_);
  evidence.set_start_errno(refusal_error_);
  return outcome;
}

}  // namespace assay::agent::route
