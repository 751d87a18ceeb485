// One ICMP socket of this host: permission, filters, kernel time stamps, batches. It moves bytes
// and knows nothing of which request belongs to which target.
#ifndef ASSAY_AGENT_PROBE_ROUTE_ICMP_SOCKET_H_
#define ASSAY_AGENT_PROBE_ROUTE_ICMP_SOCKET_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "agent/probe/route/icmp_packet.h"

namespace assay::agent::route {

enum class SocketKind { kDatagram, kRaw };

// "datagram" and "raw", as in IcmpEvidence.socket_kind.
const char* SocketKindName(SocketKind kind);

// Which kind to open. kAuto: the datagram socket, which needs no privilege where
// net.ipv4.ping_group_range allows it, otherwise the raw one.
enum class SocketPreference { kAuto, kDatagram, kRaw };

// An address that can be sent to, with its scope where it has one.
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  IpVersion version() const {
    return storage.ss_family == AF_INET6 ? IpVersion::kV6 : IpVersion::kV4;
  }
  IpAddress address() const;
};

class IcmpSocket {
 public:
  // payload_bytes: the largest of any request. PERMISSION_DENIED with the reason and the next step
  // where this process may not; UNAVAILABLE where the host has no such socket.
  static absl::StatusOr<std::unique_ptr<IcmpSocket>> Open(IpVersion version,
                                                          SocketPreference preference,
                                                          size_t payload_bytes);
  ~IcmpSocket();
  IcmpSocket(const IcmpSocket&) = delete;
  IcmpSocket& operator=(const IcmpSocket&) = delete;

  int fd() const { return fd_; }
  IpVersion version() const { return version_; }
  SocketKind kind() const { return kind_; }
  // What requests of this socket must carry; the kernel's choice for datagram sockets.
  Identifier id() const { return id_; }

  struct Outgoing {
    const SocketAddress* to = nullptr;
    std::vector<uint8_t> message;  // from the ICMP header on
    uint8_t dscp = 0;
    // Out: 0, or the errno with which the kernel refused it. Linux does not tell a datagram socket
    // for IPv6 that this host's firewall dropped the packet.
    int error = 0;
  };
  static constexpr size_t kSendBatch = 32;
  // At most kSendBatch. Never blocks.
  void Send(absl::Span<Outgoing> batch);

  struct Incoming {
    IpAddress from;
    Bytes message;            // from the ICMP header on; valid until the next call
    int64_t realtime_ns = 0;  // kernel's stamp; 0: none
  };
  static constexpr size_t kReceiveBatch = 32;
  // Up to kReceiveBatch packets that have arrived; empty: none left. Valid until the next call.
  absl::Span<const Incoming> Receive();

  // What the kernel reports about our own packets.
  struct Report {
    enum class Kind { kSent, kError } kind = Kind::kSent;
    int64_t realtime_ns = 0;  // kSent: when it left
    Bytes packet;             // kSent: what left, link header first, perhaps cut short
    IcmpError error;          // kError: what quotes it (datagram sockets; raw ones receive it)
    std::string from;         // kError: its sender
  };
  // Calls `report` for what has queued up, at most `limit` times; how many times it did.
  size_t ReadReports(size_t limit, absl::FunctionRef<void(const Report&)> report);

  // Packets that the kernel dropped because they were not read fast enough.
  uint64_t overflow() const { return overflow_; }

 private:
  struct Buffers;

  IcmpSocket(int fd, IpVersion version, SocketKind kind, size_t payload_bytes);
  absl::Status Configure();
  absl::Status ChooseIdentifier();
  absl::Status Filter();

  int fd_;
  IpVersion version_;
  SocketKind kind_;
  Identifier id_;
  uint64_t overflow_ = 0;
  std::unique_ptr<Buffers> buffers_;
  std::vector<Incoming> incoming_;
};

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_ICMP_SOCKET_H_
