#include "agent/probe/route/icmp_filter.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace assay::agent::route {
namespace icmp_filter_test {
namespace {

using Packet = std::vector<uint8_t>;

// The kernel itself decides: the filter sits on one end of a pair of local sockets.
bool Passes(IpVersion version, Identifier id, const Packet& packet) {
  int pair[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
  std::vector<sock_filter> program = EchoFilter(version, id);
  sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  EXPECT_EQ(setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)), 0);
  EXPECT_GE(send(pair[0], packet.data(), packet.size(), 0), 0);
  Packet received(packet.size() + 1);
  ssize_t size = recv(pair[1], received.data(), received.size(), 0);
  close(pair[0]);
  close(pair[1]);
  return size == static_cast<ssize_t>(packet.size());
}

Packet Icmp(uint8_t type, uint16_t id) {
  return {type, 0, 0, 0, static_cast<uint8_t>(id >> 8), static_cast<uint8_t>(id), 0, 1};
}

Packet Join(Packet a, const Packet& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Packet Ip4(size_t words) {
  Packet header(words * 4);
  header[0] = static_cast<uint8_t>(0x40 | words);
  return header;
}

Packet Ip6(uint8_t next) {
  Packet header(40);
  header[6] = next;
  return header;
}

constexpr Identifier kOwn{0x1234};

TEST(EchoFilter, V4PassesOwnRepliesOnly) {
  for (size_t words : {5, 8, 15}) {
    EXPECT_TRUE(Passes(IpVersion::kV4, kOwn, Join(Ip4(words), Icmp(0, 0x1234)))) << words;
    EXPECT_FALSE(Passes(IpVersion::kV4, kOwn, Join(Ip4(words), Icmp(0, 0x1235)))) << words;
  }
  EXPECT_FALSE(Passes(IpVersion::kV4, kOwn, Join(Ip4(5), {0, 0, 0, 0, 0x12})));
}

TEST(EchoFilter, V4PassesErrorsThatQuoteOwnRequestsOnly) {
  for (size_t outer : {5, 7}) {
    for (size_t inner : {5, 6}) {
      Packet error = Join(Join(Ip4(outer), Icmp(3, 0)), Ip4(inner));
      EXPECT_TRUE(Passes(IpVersion::kV4, kOwn, Join(error, Icmp(8, 0x1234))));
      EXPECT_FALSE(Passes(IpVersion::kV4, kOwn, Join(error, Icmp(8, 0x4321))));
      EXPECT_FALSE(Passes(IpVersion::kV4, kOwn, Join(error, {8, 0, 0, 0, 0x12})));
    }
  }
}

TEST(EchoFilter, V6PassesOwnRepliesAndErrorsOnly) {
  EXPECT_TRUE(Passes(IpVersion::kV6, kOwn, Icmp(129, 0x1234)));
  EXPECT_FALSE(Passes(IpVersion::kV6, kOwn, Icmp(129, 0x3412)));
  Packet error = Join(Icmp(1, 0), Ip6(58));
  EXPECT_TRUE(Passes(IpVersion::kV6, kOwn, Join(error, Icmp(128, 0x1234))));
  EXPECT_FALSE(Passes(IpVersion::kV6, kOwn, Join(error, Icmp(128, 0x4321))));
  EXPECT_FALSE(Passes(IpVersion::kV6, kOwn, error));
  Packet fragment = Join(Join(Icmp(2, 0), Ip6(44)), Packet(8));
  EXPECT_TRUE(Passes(IpVersion::kV6, kOwn, Join(fragment, Icmp(128, 0x1234))));
  EXPECT_FALSE(Passes(IpVersion::kV6, kOwn, Join(fragment, Icmp(128, 0x4321))));
}

}  // namespace
}  // namespace icmp_filter_test
}  // namespace assay::agent::route
