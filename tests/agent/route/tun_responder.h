// A path whose truth is known: a TUN device whose far end is this class. It answers each echo
// request as it is told, and records when it saw what and when it answered.
//
// Written without the product's packet code, so that both cannot be wrong in the same way.
#ifndef ASSAY_TESTS_AGENT_ROUTE_TUN_RESPONDER_H_
#define ASSAY_TESTS_AGENT_ROUTE_TUN_RESPONDER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::testing {

// One packet in answer to a request.
struct Answer {
  enum class Kind {
    kReply,
    kCorruptReply,      // a byte of the payload flipped, checksum right
    kShortReply,        // the last four bytes of the payload missing, checksum right
    kStrangerReply,     // from another address than the one that was asked
    kError,             // type and code, quoting the IP header and 8 bytes
    kErrorFullQuote,    // quoting everything
    kErrorWrongId,      // quoting another ping's request
    kErrorWrongTarget,  // quoting a request to another address
    kErrorShortQuote,   // quoting less than the ICMP header
  };
  Kind kind = Kind::kReply;
  int64_t delay_us = 0;
  // Held back until the first answer to this sequence number has gone.
  std::optional<uint16_t> after;
  size_t corrupt_at = 20;  // byte of the payload
  uint8_t type = 0;
  uint8_t code = 0;
};

// The answers to the request with this sequence number, to this address; none: dropped.
using Behaviour = std::function<std::vector<Answer>(uint16_t sequence, const std::string& to)>;

class TunResponder {
 public:
  // Creates "tun0" in the calling thread's namespace: this host is 10.77.0.1/16 and fd77::1/64,
  // every other address of these nets is the responder. Errors come from 10.77.255.254 and
  // fd77::ffff.
  explicit TunResponder(Behaviour behaviour);
  ~TunResponder();

  // By address and sequence number: from the moment the request was read to the one at which its
  // first answer was about to be written. The true round trip is a little longer than that.
  std::map<std::pair<std::string, uint16_t>, int64_t> DelaysNs() const;
  // Requests seen, by address.
  std::map<std::string, int> Requests() const;
  // The traffic class byte of the last echo request.
  int last_traffic_class() const { return last_traffic_class_; }
  // TCP segments are answered with this ICMP error (type, code) if set; IPv4 only.
  void RefuseTcp(uint8_t type, uint8_t code) { refuse_tcp_ = type << 8 | code; }

 private:
  struct Pending {
    std::pair<std::string, uint16_t> request;
    int64_t read_ns;
    Answer answer;
    std::vector<uint8_t> packet;
    bool first;
  };

  void Serve();
  void OnPacket(const std::vector<uint8_t>& packet, int64_t now_ns);
  // Writes what is due; when the next is, INT64_MAX for never.
  int64_t Release(int64_t now_ns);
  void Write(const Pending& pending);

  Behaviour behaviour_;
  int fd_ = -1;
  int wake_[2] = {-1, -1};
  std::atomic<int> last_traffic_class_{-1};
  std::atomic<int> refuse_tcp_{-1};
  std::multimap<int64_t, Pending> pending_;  // by due time; responder's thread alone
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, uint16_t>, int64_t> delays_ns_;
  std::map<std::string, int> requests_;
  std::thread thread_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_ROUTE_TUN_RESPONDER_H_
