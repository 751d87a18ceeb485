// The echo requests to one target and what became of each: a state machine without sockets and
// without a clock. Times are nanoseconds of one monotonic clock, handed in.
//
// Each request is in one of these states, and moves only downwards:
//
//   not yet sent
//   sent, unanswered    -> lost unless an intact reply comes
//   answered            -> by its first intact reply; in time or late is decided by the delay
//
// A request that the kernel refused is none of these: it is counted apart and leaves no row.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ECHO_SESSION_H_
#define ASSAY_AGENT_PROBE_ROUTE_ECHO_SESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "agent/probe/route/icmp_packet.h"
#include "agent/probe/route/send_pacer.h"
#include "assay/v1/result.pb.h"

namespace assay::agent::route {

struct EchoPlan {
  uint32_t count = 100;  // at least 1
  int64_t interval_ns = 50'000'000;
  int64_t timeout_ns = 2'000'000'000;
  uint32_t payload_bytes = 56;
};

// When something arrived or left: always by the agent's clock, and where it is known and can be
// trusted by the kernel's, both in monotonic time.
struct Stamp {
  int64_t user_ns = 0;
  std::optional<int64_t> kernel_ns;
};

class EchoSession {
 public:
  // `target` is the only address whose replies count. Sending begins at first_send_ns.
  EchoSession(const EchoPlan& plan, const IpAddress& target, Identifier id, uint64_t cookie,
              uint64_t seed, int64_t first_send_ns);

  const EchoPlan& plan() const { return plan_; }
  const IpAddress& target() const { return target_; }
  uint64_t cookie() const { return cookie_; }

  // ---- sending
  bool AllSent() const { return next_index_ == plan_.count; }
  // When the next request is due; not after AllSent.
  int64_t NextSendAt() const { return pacer_.due_ns(); }
  EchoRequest Next() const;
  // The request Next() left, or was refused by the kernel with `error` (errno).
  void OnSent(int64_t sent_ns);
  void OnRefused(int64_t now_ns, int error);
  // The kernel says when a request left.
  void OnSendStamp(uint32_t index, int64_t kernel_ns);

  // ---- answers
  enum class Match {
    kForeign,    // not an answer to anything that this session sent
    kFirst,      // the first intact reply to its request, late or not
    kDuplicate,  // an intact reply beyond the first
    kCorrupted,  // an answer whose bytes are not those that were sent
  };
  // `cookie_known_ours`: no cookie is needed to know that the reply is ours, as the kernel hands
  // this socket nobody else's; so a damaged cookie is damage, not somebody else's reply.
  Match OnReply(const IpAddress& from, const EchoReply& reply, const Stamp& stamp,
                bool cookie_known_ours = false);
  // False if it does not quote a request of this session.
  bool OnError(const IcmpError& error, const std::string& from);

  // ---- the end
  // Nothing that arrives from then on counts: the time-out of the last request and the grace for
  // late replies are over, or every request is answered. Never before AllSent.
  bool Done(int64_t now_ns) const { return AllSent() && now_ns >= DoneAt(); }
  int64_t DoneAt() const;

  uint32_t attempted() const { return next_index_; }
  uint64_t refused() const { return refused_; }

  struct Outcome {
    // All but parameters, address and socket_kind.
    v1::IcmpEvidence evidence;
    // Requests that are not wholly timed by the kernel.
    uint64_t user_timed = 0;
    // The session ended before Done: requests whose time-out had not passed are left out, answered
    // or not, since keeping the answered ones alone would make loss look smaller.
    bool truncated = false;
  };
  // offset_origin_ns: the time to which offsets refer.
  Outcome Finish(int64_t now_ns, int64_t offset_origin_ns) const;

 private:
  struct Row {
    int64_t sent_ns = kNever;
    int64_t kernel_sent_ns = kNever;
    int64_t received_ns = kNever;
    int64_t kernel_received_ns = kNever;
    uint32_t arrival = 0;  // 1 for the first reply of the session, 0: unanswered
    uint32_t duplicates = 0;
  };
  static constexpr int64_t kNever = INT64_MIN;

  static int64_t RoundTripNs(const Row& row);
  static int64_t SentNs(const Row& row);
  // The latest request that went out under this sequence number.
  std::optional<uint32_t> IndexOf(Sequence sequence) const;
  bool WasSent(uint32_t index) const;

  EchoPlan plan_;
  IpAddress target_;
  Identifier id_;
  uint64_t cookie_;
  SendPacer pacer_;
  uint32_t next_index_ = 0;
  std::vector<Row> rows_;  // by index; a refused one stays without a time of sending
  int64_t last_sent_ns_ = kNever;
  int64_t last_event_ns_ = kNever;
  uint64_t unanswered_ = 0;
  uint32_t arrivals_ = 0;
  uint64_t refused_ = 0;
  int refused_error_ = 0;
  uint64_t corrupted_ = 0;
  std::map<std::tuple<uint8_t, uint8_t, std::string>, uint64_t> errors_;
};

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_ECHO_SESSION_H_
