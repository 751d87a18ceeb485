// TCP connects to one address and port, timed, by one thread; several may be under way.
#ifndef ASSAY_AGENT_PROBE_ROUTE_TCP_CONNECTOR_H_
#define ASSAY_AGENT_PROBE_ROUTE_TCP_CONNECTOR_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "agent/probe/route/icmp_socket.h"
#include "agent/probe/route/send_pacer.h"
#include "assay/v1/result.pb.h"

namespace assay::agent::route {

struct ConnectPlan {
  SocketAddress address;  // port set
  uint32_t count = 20;
  int64_t interval_ns = 200'000'000;
  int64_t timeout_ns = 5'000'000'000;
};

// How a connect ended, by the errno of the socket; 0 is CONNECTED.
v1::ConnectOutcome OutcomeOfErrno(int error);

// Whether errno of starting a connect means that this host could not even try (no route, no free
// port, no file left, its own firewall), so that nothing was learned about the path.
bool IsLocalRefusal(int error);

// Each connect has its own socket and source port, and is closed so that the far side sees a FIN,
// not a reset. At most kMaxInFlight are under way; further ones wait. Not thread-safe; Run once.
class TcpConnector {
 public:
  static constexpr size_t kMaxInFlight = 256;

  TcpConnector(const ConnectPlan& plan, uint64_t seed);
  ~TcpConnector();
  TcpConnector(const TcpConnector&) = delete;
  TcpConnector& operator=(const TcpConnector&) = delete;

  enum class End { kDone, kCancelled, kDeadline };
  End Run(const std::atomic<bool>* cancelled, int64_t deadline_ns,
          const std::function<void(double)>& progress);

  struct Outcome {
    // All but parameters and address.
    v1::TcpEvidence evidence;
    // Ended before the last was settled: those that started less than a time-out before the end are
    // left out, whatever became of them, since the quick ones are not a fair sample.
    bool truncated = false;
  };
  Outcome Finish(int64_t offset_origin_ns) const;

 private:
  struct Row {
    int64_t start_ns = 0;
    int64_t duration_ns = 0;
    v1::ConnectOutcome outcome = v1::CONNECT_OUTCOME_UNSPECIFIED;  // still under way
    int error = 0;
    uint32_t retransmits = 0;
  };
  struct InFlight {
    int fd;
    size_t row;
  };
  struct Closing {
    int fd;
    int64_t until_ns;
  };

  void Start(int64_t now_ns);
  void Settle(const InFlight& connect, int error, int64_t now_ns);
  // Our FIN is out; what the far side still says is read, so that close() does not reset.
  void CloseCleanly(int fd, int64_t now_ns);
  bool ReadToEnd(int fd);
  int64_t NextEventNs(bool starting) const;
  void Poll(int64_t wait_ns);

  ConnectPlan plan_;
  SendPacer pacer_;
  uint32_t attempted_ = 0;
  std::vector<Row> rows_;
  std::vector<InFlight> in_flight_;
  std::vector<Closing> closing_;
  uint64_t refusals_ = 0;
  int refusal_error_ = 0;
  bool truncated_ = false;
  int64_t ended_at_ns_ = 0;
};

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_TCP_CONNECTOR_H_
