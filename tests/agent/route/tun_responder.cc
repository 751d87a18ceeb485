#include "tests/agent/route/tun_responder.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "gtest/gtest.h"
#include "tests/agent/route/net_namespace.h"

namespace assay::testing {
namespace {

using Packet = std::vector<uint8_t>;

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

uint32_t Sum(const uint8_t* data, size_t size, uint32_t sum) {
  for (size_t i = 0; i < size; ++i) sum += i % 2 == 0 ? data[i] << 8 : data[i];
  return sum;
}

uint16_t Fold(uint32_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void Put16(uint8_t* to, uint16_t value) {
  to[0] = static_cast<uint8_t>(value >> 8);
  to[1] = static_cast<uint8_t>(value);
}

std::string Text(bool v6, const uint8_t* address) {
  char text[64];
  inet_ntop(v6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
  return text;
}

std::vector<uint8_t> Address(bool v6, const char* text) {
  std::vector<uint8_t> bytes(v6 ? 16 : 4);
  inet_pton(v6 ? AF_INET6 : AF_INET, text, bytes.data());
  return bytes;
}

// IP header and ICMP checksum around an ICMP message.
Packet Wrap(bool v6, const std::vector<uint8_t>& from, const std::vector<uint8_t>& to,
            Packet icmp) {
  Put16(&icmp[2], 0);
  uint32_t pseudo = 0;
  if (v6) {
    pseudo = Sum(from.data(), 16, Sum(to.data(), 16, static_cast<uint32_t>(icmp.size()) + 58));
  }
  Put16(&icmp[2], Fold(Sum(icmp.data(), icmp.size(), pseudo)));
  Packet packet(v6 ? 40 : 20);
  if (v6) {
    packet[0] = 0x60;
    Put16(&packet[4], static_cast<uint16_t>(icmp.size()));
    packet[6] = 58;
    packet[7] = 64;
    std::copy(from.begin(), from.end(), packet.begin() + 8);
    std::copy(to.begin(), to.end(), packet.begin() + 24);
  } else {
    packet[0] = 0x45;
    Put16(&packet[2], static_cast<uint16_t>(20 + icmp.size()));
    packet[8] = 64;
    packet[9] = 1;
    std::copy(from.begin(), from.end(), packet.begin() + 12);
    std::copy(to.begin(), to.end(), packet.begin() + 16);
    Put16(&packet[10], Fold(Sum(packet.data(), 20, 0)));
  }
  packet.insert(packet.end(), icmp.begin(), icmp.end());
  return packet;
}

// `request` is a whole IP packet.
Packet Respond(bool v6, const Packet& request, const Answer& answer) {
  size_t header = v6 ? 40 : (request[0] & 15) * 4;
  size_t source = v6 ? 8 : 12;
  size_t width = v6 ? 16 : 4;
  std::vector<uint8_t> us(request.begin() + source, request.begin() + source + width);
  std::vector<uint8_t> asked(request.begin() + source + width,
                             request.begin() + source + 2 * width);
  if (answer.kind <= Answer::Kind::kStrangerReply) {
    Packet icmp(request.begin() + header, request.end());
    icmp[0] = v6 ? 129 : 0;
    if (answer.kind == Answer::Kind::kCorruptReply) icmp[8 + answer.corrupt_at] ^= 0x40;
    if (answer.kind == Answer::Kind::kShortReply) icmp.resize(icmp.size() - 4);
    if (answer.kind == Answer::Kind::kStrangerReply) asked.back() ^= 0x80;
    return Wrap(v6, asked, us, icmp);
  }
  Packet quote = request;
  if (answer.kind == Answer::Kind::kErrorWrongId) quote[header + 4] ^= 0xFF;
  if (answer.kind == Answer::Kind::kErrorWrongTarget) quote[source + 2 * width - 1] ^= 0x80;
  if (answer.kind == Answer::Kind::kErrorShortQuote) {
    quote.resize(header + 4);
  } else if (answer.kind != Answer::Kind::kErrorFullQuote) {
    quote.resize(header + 8);
  }
  Packet icmp(8);
  icmp[0] = answer.type;
  icmp[1] = answer.code;
  icmp.insert(icmp.end(), quote.begin(), quote.end());
  return Wrap(v6, Address(v6, v6 ? "fd77::ffff" : "10.77.255.254"), us, icmp);
}

}  // namespace

TunResponder::TunResponder(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
  fd_ = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  EXPECT_GE(fd_, 0) << strerror(errno);
  ifreq request = {};
  strcpy(request.ifr_name, "tun0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  EXPECT_EQ(ioctl(fd_, TUNSETIFF, &request), 0) << strerror(errno);
  Shell(
      "ip addr add 10.77.0.1/16 dev tun0 && ip -6 addr add fd77::1/64 dev tun0 nodad && "
      "ip link set tun0 up txqueuelen 10000");
  // The kernel takes its time until it accepts what comes for the IPv6 address.
  Shell(
      "for i in $(seq 500); do ip -6 route show table local | grep -q '^local fd77::1 ' && "
      "test -z \"$(ip -6 addr show dev tun0 tentative)\" && exit 0; sleep 0.01; done; exit 1");
  EXPECT_EQ(pipe2(wake_, O_CLOEXEC), 0);
  thread_ = std::thread([this] { Serve(); });
}

TunResponder::~TunResponder() {
  close(wake_[1]);
  thread_.join();
  close(wake_[0]);
  close(fd_);
}

std::map<std::pair<std::string, uint16_t>, int64_t> TunResponder::DelaysNs() const {
  std::lock_guard lock(mutex_);
  return delays_ns_;
}

std::map<std::string, int> TunResponder::Requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

void TunResponder::Serve() {
  Packet buffer(70000);
  while (true) {
    int64_t next_ns = Release(NowNs());
    int64_t wait_ns = std::clamp<int64_t>(next_ns - NowNs(), 0, 1'000'000'000);
    timespec timeout = {wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
    pollfd polls[2] = {{fd_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    ppoll(polls, 2, &timeout, nullptr);
    if (polls[1].revents != 0) return;
    ssize_t size;
    while ((size = read(fd_, buffer.data(), buffer.size())) > 0) {
      OnPacket(Packet(buffer.begin(), buffer.begin() + size), NowNs());
    }
  }
}

void TunResponder::OnPacket(const Packet& packet, int64_t now_ns) {
  bool v6 = packet[0] >> 4 == 6;
  size_t header = v6 ? 40 : (packet[0] & 15) * 4;
  uint8_t protocol = packet[v6 ? 6 : 9];
  if (!v6 && protocol == 6 && refuse_tcp_ >= 0) {
    Answer answer{.kind = Answer::Kind::kError,
                  .type = static_cast<uint8_t>(refuse_tcp_ >> 8),
                  .code = static_cast<uint8_t>(refuse_tcp_)};
    Packet error = Respond(v6, packet, answer);
    EXPECT_GT(write(fd_, error.data(), error.size()), 0);
    return;
  }
  if (protocol != (v6 ? 58 : 1) || packet.size() < header + 8) return;
  if (packet[header] != (v6 ? 128 : 8)) return;
  last_traffic_class_ = v6 ? (packet[0] & 15) << 4 | packet[1] >> 4 : packet[1];
  auto sequence = static_cast<uint16_t>(packet[header + 6] << 8 | packet[header + 7]);
  std::string to = Text(v6, &packet[v6 ? 24 : 16]);
  {
    std::lock_guard lock(mutex_);
    ++requests_[to];
  }
  bool first = true;
  for (const Answer& answer : behaviour_(sequence, to)) {
    bool intact = answer.kind == Answer::Kind::kReply;
    pending_.emplace(now_ns + answer.delay_us * 1000, Pending{.request = {to, sequence},
                                                              .read_ns = now_ns,
                                                              .answer = answer,
                                                              .packet = Respond(v6, packet, answer),
                                                              .first = intact && first});
    if (intact) first = false;
  }
}

int64_t TunResponder::Release(int64_t now_ns) {
  bool wrote = true;
  int64_t next_ns = INT64_MAX;
  while (wrote) {
    wrote = false;
    next_ns = INT64_MAX;
    for (auto it = pending_.begin(); it != pending_.end(); ++it) {
      const Pending& pending = it->second;
      if (pending.answer.after) {
        std::lock_guard lock(mutex_);
        if (delays_ns_.count({pending.request.first, *pending.answer.after}) == 0) continue;
      }
      if (it->first > now_ns) {
        next_ns = std::min(next_ns, it->first);
        break;
      }
      Write(pending);
      pending_.erase(it);
      wrote = true;
      break;
    }
  }
  return next_ns;
}

void TunResponder::Write(const Pending& pending) {
  if (pending.first) {
    std::lock_guard lock(mutex_);
    delays_ns_[pending.request] = NowNs() - pending.read_ns;
  }
  EXPECT_GT(write(fd_, pending.packet.data(), pending.packet.size()), 0) << strerror(errno);
}

}  // namespace assay::testing
