#include "agent/probe/route/icmp_socket.h"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "agent/probe/route/icmp_filter.h"
#include "agent/probe/route/probe_result.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::agent::route {
namespace {

constexpr size_t kControlBytes = 512;
constexpr size_t kReportBytes = 512;
// IPv4 header with options, ICMP header, and a little that a wrong reply may be longer.
constexpr size_t kHeaderRoom = 60 + kIcmpHeaderBytes + 60;
// ICMP_FILTER of <linux/icmp.h>, which cannot be included beside <netinet/ip_icmp.h>: a mask of the
// types to drop.
constexpr int kIcmpFilterOption = 1;
// Enough for bursts of thousands of replies; the kernel grants what its limits allow.
constexpr int kBufferBytes = 4 << 20;
// Errors of earlier packets, or of other pings, that a socket reports in place of sending; they say
// nothing about the packet at hand.
constexpr int kMaxPendingErrors = 3;

const char* FamilyName(IpVersion version) { return version == IpVersion::kV4 ? "IPv4" : "IPv6"; }

std::string PingGroupRange() {
  std::ifstream file("/proc/sys/net/ipv4/ping_group_range");
  std::string low, high;
  if (!(file >> low >> high)) return "unknown";
  return absl::StrCat(low, "-", high);
}

absl::Status SocketError(IpVersion version, int error) {
  if (error == EPERM || error == EACCES) {
    return Error(absl::StatusCode::kPermissionDenied, "probe.icmp_not_permitted",
                 {{"group", absl::StrCat(getegid())}, {"range", PingGroupRange()}});
  }
  return Error(absl::StatusCode::kUnavailable, "probe.icmp_socket_failed",
               {{"family", FamilyName(version)}, {"detail", ErrnoText(error)}});
}

int OpenSocket(IpVersion version, SocketKind kind) {
  int family = version == IpVersion::kV4 ? AF_INET : AF_INET6;
  int type = kind == SocketKind::kDatagram ? SOCK_DGRAM : SOCK_RAW;
  int protocol = version == IpVersion::kV4 ? IPPROTO_ICMP : int{IPPROTO_ICMPV6};
  return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

bool SetInt(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

// The kernel's limit holds unless this process may exceed it.
void SetBuffers(int fd) {
  if (!SetInt(fd, SOL_SOCKET, SO_RCVBUFFORCE, kBufferBytes)) {
    SetInt(fd, SOL_SOCKET, SO_RCVBUF, kBufferBytes);
  }
  if (!SetInt(fd, SOL_SOCKET, SO_SNDBUFFORCE, kBufferBytes)) {
    SetInt(fd, SOL_SOCKET, SO_SNDBUF, kBufferBytes);
  }
}

IpAddress AddressOf(const sockaddr* address) {
  IpAddress ip;
  if (address->sa_family == AF_INET6) {
    ip.version = IpVersion::kV6;
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    std::memcpy(ip.bytes.data(), &v6->sin6_addr, 16);
  } else if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    std::memcpy(ip.bytes.data(), &v4->sin_addr, 4);
  }
  return ip;
}

template <typename T>
bool ReadControl(const cmsghdr* control, T* value) {
  if (control->cmsg_len < CMSG_LEN(sizeof(T))) return false;
  std::memcpy(value, CMSG_DATA(control), sizeof(T));
  return true;
}

int64_t SoftwareStampNs(const cmsghdr* control) {
  scm_timestamping stamps;
  if (!ReadControl(control, &stamps)) return 0;
  return int64_t{stamps.ts[0].tv_sec} * 1'000'000'000 + stamps.ts[0].tv_nsec;
}

bool IsStamp(const cmsghdr* control) {
  return control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_TIMESTAMPING;
}

bool IsExtendedError(const cmsghdr* control) {
  return (control->cmsg_level == SOL_IP && control->cmsg_type == IP_RECVERR) ||
         (control->cmsg_level == SOL_IPV6 && control->cmsg_type == IPV6_RECVERR);
}

// Errors that an ICMP message leaves on a socket (icmp_err_convert in the kernel). They
// also stand for a missing route, which comes again on the next try.
bool MayBePending(int error) {
  switch (error) {
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENOPROTOOPT:
    case ECONNREFUSED:
    case EMSGSIZE:
    case EOPNOTSUPP:
    case EHOSTDOWN:
    case ENONET:
    case EPROTO:
    case EACCES:
      return true;
    default:
      return false;
  }
}

}  // namespace

const char* SocketKindName(SocketKind kind) {
  return kind == SocketKind::kDatagram ? "datagram" : "raw";
}

IpAddress SocketAddress::address() const {
  return AddressOf(reinterpret_cast<const sockaddr*>(&storage));
}

// Memory that the kernel fills, one slot a packet.
struct IcmpSocket::Buffers {
  explicit Buffers(size_t slot_bytes) : slot_bytes(slot_bytes), data(slot_bytes * kReceiveBatch) {}

  size_t slot_bytes;
  std::vector<uint8_t> data;
  std::array<mmsghdr, kReceiveBatch> headers;
  std::array<iovec, kReceiveBatch> vectors;
  std::array<sockaddr_storage, kReceiveBatch> senders;
  struct alignas(cmsghdr) Control {
    std::array<uint8_t, kControlBytes> bytes;
  };
  std::array<Control, kReceiveBatch> controls;
};

IcmpSocket::IcmpSocket(int fd, IpVersion version, SocketKind kind, size_t payload_bytes)
    : fd_(fd),
      version_(version),
      kind_(kind),
      buffers_(std::make_unique<Buffers>(payload_bytes + kHeaderRoom)) {}

IcmpSocket::~IcmpSocket() { close(fd_); }

absl::StatusOr<std::unique_ptr<IcmpSocket>> IcmpSocket::Open(IpVersion version,
                                                             SocketPreference preference,
                                                             size_t payload_bytes) {
  SocketKind kind = preference == SocketPreference::kRaw ? SocketKind::kRaw : SocketKind::kDatagram;
  int fd = OpenSocket(version, kind);
  if (fd < 0 && preference == SocketPreference::kAuto) {
    kind = SocketKind::kRaw;
    fd = OpenSocket(version, kind);
  }
  if (fd < 0) return SocketError(version, errno);
  std::unique_ptr<IcmpSocket> socket(new IcmpSocket(fd, version, kind, payload_bytes));
  ASSAY_RETURN_IF_ERROR(socket->Configure());
  return socket;
}

absl::Status IcmpSocket::Configure() {
  ASSAY_RETURN_IF_ERROR(ChooseIdentifier());
  if (kind_ == SocketKind::kRaw) ASSAY_RETURN_IF_ERROR(Filter());
  // Without it the kernel hides from us that a queue of this host was full (ENOBUFS), and keeps
  // ICMP errors from datagram sockets.
  if (version_ == IpVersion::kV4) {
    SetInt(fd_, SOL_IP, IP_RECVERR, 1);
  } else {
    SetInt(fd_, SOL_IPV6, IPV6_RECVERR, 1);
  }
  SetBuffers(fd_);
  SetInt(fd_, SOL_SOCKET, SO_RXQ_OVFL, 1);
  // The packet comes back with its send time (no OPT_TSONLY): its content says which one it is,
  // whereas the kernel's counter gets out of step when sending fails. A kernel that has no such
  // stamps leaves us with the agent's clock.
  SetInt(fd_, SOL_SOCKET, SO_TIMESTAMPING,
         SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_TX_SOFTWARE);
  return absl::OkStatus();
}

absl::Status IcmpSocket::ChooseIdentifier() {
  if (kind_ == SocketKind::kRaw) {
    uint16_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
      return SocketError(version_, errno);
    }
    id_ = {random};
    return absl::OkStatus();
  }
  // The kernel draws a free identifier and hands us replies to that one alone.
  SocketAddress local;
  local.storage.ss_family = version_ == IpVersion::kV4 ? AF_INET : AF_INET6;
  local.length = version_ == IpVersion::kV4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  auto* address = reinterpret_cast<sockaddr*>(&local.storage);
  if (bind(fd_, address, local.length) != 0 || getsockname(fd_, address, &local.length) != 0) {
    return SocketError(version_, errno);
  }
  in_port_t port = version_ == IpVersion::kV4 ? reinterpret_cast<sockaddr_in*>(address)->sin_port
                                              : reinterpret_cast<sockaddr_in6*>(address)->sin6_port;
  id_ = {ntohs(port)};
  return absl::OkStatus();
}

absl::Status IcmpSocket::Filter() {
  std::vector<sock_filter> program = EchoFilter(version_, id_);
  sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  if (setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) != 0) {
    return SocketError(version_, errno);
  }
  int done = 0;
  if (version_ == IpVersion::kV4) {
    uint32_t types =
        ~((1u << ICMP_ECHOREPLY) | (1u << ICMP_DEST_UNREACH) | (1u << ICMP_SOURCE_QUENCH) |
          (1u << ICMP_TIME_EXCEEDED) | (1u << ICMP_PARAMETERPROB));
    done = setsockopt(fd_, SOL_RAW, kIcmpFilterOption, &types, sizeof(types));
  } else {
    icmp6_filter types;
    ICMP6_FILTER_SETBLOCKALL(&types);
    ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &types);
    for (int type = ICMP6_DST_UNREACH; type <= ICMP6_PARAM_PROB; ++type) {
      ICMP6_FILTER_SETPASS(type, &types);
    }
    done = setsockopt(fd_, IPPROTO_ICMPV6, ICMP6_FILTER, &types, sizeof(types));
  }
  return done == 0 ? absl::OkStatus() : SocketError(version_, errno);
}

void IcmpSocket::Send(absl::Span<Outgoing> batch) {
  std::array<mmsghdr, kSendBatch> headers = {};
  std::array<iovec, kSendBatch> vectors;
  struct alignas(cmsghdr) Control {
    std::array<uint8_t, CMSG_SPACE(sizeof(int))> bytes;
  };
  std::array<Control, kSendBatch> controls = {};
  for (size_t i = 0; i < batch.size(); ++i) {
    Outgoing& out = batch[i];
    out.error = 0;
    vectors[i] = {out.message.data(), out.message.size()};
    msghdr& header = headers[i].msg_hdr;
    header.msg_name = const_cast<sockaddr_storage*>(&out.to->storage);
    header.msg_namelen = out.to->length;
    header.msg_iov = &vectors[i];
    header.msg_iovlen = 1;
    if (out.dscp == 0) continue;
    header.msg_control = controls[i].bytes.data();
    header.msg_controllen = controls[i].bytes.size();
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = version_ == IpVersion::kV4 ? SOL_IP : SOL_IPV6;
    control->cmsg_type = version_ == IpVersion::kV4 ? IP_TOS : IPV6_TCLASS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    int traffic_class = out.dscp << 2;
    std::memcpy(CMSG_DATA(control), &traffic_class, sizeof(traffic_class));
  }
  size_t at = 0;
  int tries = 0;
  while (at < batch.size()) {
    int sent = sendmmsg(fd_, &headers[at], static_cast<unsigned>(batch.size() - at), MSG_DONTWAIT);
    if (sent > 0) {
      at += static_cast<size_t>(sent);
      tries = 0;
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    // The first of the rest failed, or an earlier packet's ICMP error was reported instead.
    if (MayBePending(errno) && ++tries < kMaxPendingErrors) continue;
    batch[at].error = errno;
    ++at;
    tries = 0;
  }
}

absl::Span<const IcmpSocket::Incoming> IcmpSocket::Receive() {
  incoming_.clear();
  Buffers& b = *buffers_;
  for (size_t i = 0; i < kReceiveBatch; ++i) {
    b.vectors[i] = {b.data.data() + i * b.slot_bytes, b.slot_bytes};
    b.headers[i] = {};
    msghdr& header = b.headers[i].msg_hdr;
    header.msg_name = &b.senders[i];
    header.msg_namelen = sizeof(b.senders[i]);
    header.msg_iov = &b.vectors[i];
    header.msg_iovlen = 1;
    header.msg_control = b.controls[i].bytes.data();
    header.msg_controllen = kControlBytes;
  }
  int count = -1;
  // A pending error of an earlier packet, which the error queue tells better, comes first.
  for (int tries = 0; count < 0 && tries <= kMaxPendingErrors; ++tries) {
    count = recvmmsg(fd_, b.headers.data(), kReceiveBatch, MSG_DONTWAIT, nullptr);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
  }
  for (int i = 0; i < count; ++i) {
    auto slot = static_cast<size_t>(i);
    msghdr& header = b.headers[slot].msg_hdr;
    Incoming packet;
    packet.from = AddressOf(reinterpret_cast<const sockaddr*>(&b.senders[slot]));
    size_t length = std::min<size_t>(b.headers[slot].msg_len, b.slot_bytes);
    packet.message = Bytes(b.data.data() + slot * b.slot_bytes, length);
    if (kind_ == SocketKind::kRaw && version_ == IpVersion::kV4) {
      packet.message = StripIpv4Header(packet.message);
    }
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (IsStamp(c)) packet.realtime_ns = SoftwareStampNs(c);
      uint32_t dropped = 0;
      if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL && ReadControl(c, &dropped)) {
        overflow_ = std::max<uint64_t>(overflow_, dropped);
      }
    }
    incoming_.push_back(packet);
  }
  return incoming_;
}

size_t IcmpSocket::ReadReports(size_t limit, absl::FunctionRef<void(const Report&)> report) {
  std::array<uint8_t, kReportBytes> data;
  alignas(cmsghdr) std::array<uint8_t, kControlBytes> control_bytes;
  size_t count = 0;
  for (; count < limit; ++count) {
    sockaddr_storage destination = {};
    iovec vector = {data.data(), data.size()};
    msghdr header = {};
    header.msg_name = &destination;
    header.msg_namelen = sizeof(destination);
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control_bytes.data();
    header.msg_controllen = control_bytes.size();
    ssize_t length = recvmsg(fd_, &header, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (length < 0) break;
    Report found;
    found.packet = Bytes(data.data(), static_cast<size_t>(length));
    sock_extended_err error = {};
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (IsStamp(c)) found.realtime_ns = SoftwareStampNs(c);
      // The sender's address follows the fixed part.
      if (!IsExtendedError(c) || !ReadControl(c, &error)) continue;
      bool quoted = error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6;
      if (!quoted) continue;
      found.kind = Report::Kind::kError;
      struct {
        sock_extended_err error;
        sockaddr_in6 sender;
      } with_sender = {};
      size_t have = c->cmsg_len - CMSG_LEN(0);
      std::memcpy(&with_sender, CMSG_DATA(c), std::min(have, sizeof(with_sender)));
      found.from = AddressOf(reinterpret_cast<const sockaddr*>(&with_sender.sender)).ToString();
    }
    if (found.kind == Report::Kind::kSent) {
      bool is_send_time = error.ee_origin == SO_EE_ORIGIN_TIMESTAMPING &&
                          error.ee_info == SCM_TSTAMP_SND && found.realtime_ns != 0;
      if (is_send_time) report(found);
      continue;
    }
    // A raw socket receives the error as a packet as well, past its filter.
    if (kind_ == SocketKind::kRaw) continue;
    std::optional<IcmpError> parsed = ParseQuotedEcho(version_, found.packet);
    if (!parsed) continue;
    parsed->type = error.ee_type;
    parsed->code = error.ee_code;
    parsed->quoted_destination = AddressOf(reinterpret_cast<const sockaddr*>(&destination));
    found.error = *parsed;
    report(found);
  }
  return count;
}

}  // namespace assay::agent::route
