#include "tests/pathsim/driver/send_times.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace assay::pathsim {
namespace {

constexpr uint32_t kStartBytes = 128;  // enough to tell packets apart
constexpr size_t kMostCopies = 100'000;

}  // namespace

absl::StatusOr<SendTimes> SendTimes::Open(const std::string& name) {
  auto failed = [&](const char* what) {
    return absl::ErrnoToStatus(errno, absl::StrCat(what, " for send times of ", name));
  };
  // Bound to a protocol only at the end, so that nothing passes the filter by.
  Descriptor socket(::socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.ok()) return failed("no packet socket");
  // What the host sends; not what it receives.
  std::array<sock_filter, 4> code = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PACKET_OUTGOING},
      {BPF_RET | BPF_K, 0, 0, kStartBytes},
      {BPF_RET | BPF_K, 0, 0, 0},
  }};
  sock_fprog filter = {static_cast<unsigned short>(code.size()), code.data()};
  int on = 1, buffer = 32 << 20;
  if (setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) != 0 ||
      setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) != 0) {
    return failed("no filter or time stamps");
  }
  // A smaller buffer only loses more copies under load.
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer));
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
  if (address.sll_ifindex == 0 ||
      bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return failed("cannot bind the packet socket");
  }
  return SendTimes(std::move(socket));
}

void SendTimes::Receive() {
  while (true) {
    std::array<uint8_t, kStartBytes> bytes;
    alignas(cmsghdr) std::array<char, 256> control;
    iovec part = {bytes.data(), bytes.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t got = recvmsg(socket_.get(), &message, 0);
    if (got < 0) return;
    for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr;
         part_of = CMSG_NXTHDR(&message, part_of)) {
      if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SO_TIMESTAMPNS) continue;
      timespec time;
      std::memcpy(&time, CMSG_DATA(part_of), sizeof(time));
      copies_.push_back({absl::TimeFromTimespec(time), Bytes(bytes.begin(), bytes.begin() + got)});
    }
    if (copies_.size() > kMostCopies) copies_.pop_front();
  }
}

SendTimes::Match SendTimes::Find(ByteView packet) {
  Receive();
  ByteView start = packet.subspan(0, std::min<size_t>(packet.size(), kStartBytes));
  auto found = std::find_if(copies_.begin(), copies_.end(),
                            [&](const Copy& copy) { return ByteView(copy.start) == start; });
  Match match;
  if (found == copies_.end()) return match;
  match.sent = found->time;
  match.dropped = static_cast<int>(found - copies_.begin());
  copies_.erase(copies_.begin(), found + 1);
  return match;
}

}  // namespace assay::pathsim
