// Echo requests to many targets from one thread: one socket an address family, requests and replies
// in batches, one heap of what is due.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ECHO_ENGINE_H_
#define ASSAY_AGENT_PROBE_ROUTE_ECHO_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "agent/probe/route/clock_bridge.h"
#include "agent/probe/route/echo_session.h"
#include "agent/probe/route/icmp_socket.h"

namespace assay::agent::route {

struct EchoTarget {
  SocketAddress address;
  EchoPlan plan;
  uint8_t dscp = 0;  // 0 to 63
};

struct EchoLimits {
  // May be null.
  const std::atomic<bool>* cancelled = nullptr;
  // Monotonic, MonotonicNowNs(); INT64_MAX: none.
  int64_t deadline_ns = INT64_MAX;
  // May be empty. Fraction of the requests that were sent, 0 to 1; at most about ten times a
  // second.
  std::function<void(double)> progress;
};

// CLOCK_MONOTONIC.
int64_t MonotonicNowNs();

// Not thread-safe. Open, Run once, read the outcomes.
class EchoEngine {
 public:
  // Opens the sockets that the targets need; the error is IcmpSocket::Open's.
  static absl::StatusOr<std::unique_ptr<EchoEngine>> Open(std::vector<EchoTarget> targets,
                                                          SocketPreference preference);

  enum class End { kDone, kCancelled, kDeadline };
  // Returns when every target is done, or within 100 ms of being cancelled or of the deadline.
  End Run(const EchoLimits& limits);

  // After Run. offset_origin_ns: monotonic time to which send offsets refer. Parameters and address
  // of the evidence are left to the caller.
  EchoSession::Outcome Outcome(size_t target, int64_t offset_origin_ns) const;

  // Packets that arrived and were dropped by this host before they were read.
  uint64_t overflow() const;
  uint64_t clock_steps() const { return bridge_.steps(); }

 private:
  struct Due {
    int64_t at_ns;
    uint32_t session;
    bool operator>(const Due& other) const { return at_ns > other.at_ns; }
  };

  EchoEngine() = default;
  void Start();
  void Schedule(uint32_t session);
  // Sends what is due, ends sessions that are done.
  void Work();
  void SendBatch(IcmpSocket& socket, std::vector<std::pair<uint32_t, int64_t>>* due);
  void Drain(IcmpSocket& socket);
  void DrainReports(IcmpSocket& socket);
  void DrainPackets(IcmpSocket& socket);
  void OnReply(const IcmpSocket& socket, const IpAddress& from, const EchoReply& reply,
               const Stamp& stamp);
  void OnError(const IcmpError& error, const std::string& from);
  void ReadClocks();
  void Wait(int64_t until_ns);
  IcmpSocket* SocketOf(uint32_t session);

  std::vector<EchoTarget> targets_;
  std::unique_ptr<IcmpSocket> sockets_[2];  // by IpVersion; null: not needed
  std::vector<EchoSession> sessions_;       // by target
  std::vector<bool> done_;
  size_t open_sessions_ = 0;
  uint64_t attempted_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> by_cookie_;
  absl::flat_hash_map<IpAddress, std::vector<uint32_t>> by_address_;
  // May hold outdated entries: a session's times are asked again when its entry comes up.
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  ClockBridge bridge_;
  std::vector<IcmpSocket::Outgoing> outgoing_;
  int64_t ended_at_ns_ = 0;
};

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_ECHO_ENGINE_H_
