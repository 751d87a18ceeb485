// Packets against published examples, and against what is true of every right packet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/pathsim/packet/build.h"
#include "tests/pathsim/packet/checksum.h"
#include "tests/pathsim/packet/header.h"
#include "tests/pathsim/packet/icmp_answer.h"
#include "tests/pathsim/test/lab.h"

namespace assay::pathsim {
namespace {

// Sums byte by byte with end-around carry at once: not how the code does it.
bool SumsToAllOnes(ByteView bytes, uint32_t sum = 0) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum == 0xffff;
}

bool TransportIsRight(const Header& header, ByteView packet, uint8_t protocol) {
  Bytes all(header.source.span().begin(), header.source.span().end());
  all.insert(all.end(), header.destination.span().begin(), header.destination.span().end());
  size_t bytes = packet.size() - header.transport_at;
  for (size_t value : {bytes >> 24, bytes >> 16, bytes >> 8, bytes, size_t{0}, size_t{0}, size_t{0},
                       size_t{protocol}}) {
    all.push_back(static_cast<uint8_t>(value));
  }
  all.insert(all.end(), packet.begin() + static_cast<ptrdiff_t>(header.transport_at), packet.end());
  return SumsToAllOnes(all);
}

TEST(ChecksumTest, PublishedExamples) {
  EXPECT_EQ(InternetChecksum(Bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), 0x220d)
      << "RFC 1071, section 3";
  EXPECT_EQ(UpdateChecksum(0xdd2f, 0x5555, 0x3285), 0x0000) << "RFC 1624, section 4";
}

TEST(HeaderTest, TtlDecrementKeepsTheChecksumRightForEveryTtl) {
  for (int ttl = 1; ttl < 256; ++ttl) {
    Bytes packet = Lab::Udp(Lab::Ip(4, static_cast<uint8_t>(ttl)));
    DecrementTtl(packet);
    EXPECT_TRUE(SumsToAllOnes(ByteView(packet).subspan(0, 20))) << ttl;
    EXPECT_EQ(packet[8], ttl - 1);
  }
}

TEST(HeaderTest, EveryBuiltTransportHasARightChecksum) {
  for (int version : {4, 6}) {
    for (size_t payload = 0; payload < 40; ++payload) {
      IpFields ip = Lab::Ip(version);
      Bytes data(payload);
      std::iota(data.begin(), data.end(), 250);
      Bytes udp = BuildUdp(ip, 1, 2, data), tcp = BuildTcp(ip, 1, 2, 3, 2, data);
      Header header = *ParseHeader(udp);
      EXPECT_TRUE(TransportIsRight(header, udp, kUdp));
      EXPECT_TRUE(TransportIsRight(*ParseHeader(tcp), tcp, kTcp));
      Bytes echo = BuildEchoRequest(ip, 7, 8, data);
      if (version == 6) {
        EXPECT_TRUE(TransportIsRight(*ParseHeader(echo), echo, kIcmp6));
      } else {
        EXPECT_TRUE(SumsToAllOnes(ByteView(echo).subspan(20)));
      }
      Bytes reply = BuildEchoReply(*ParseHeader(echo), echo, 64);
      EXPECT_EQ(Bytes(reply.begin() + static_cast<ptrdiff_t>(header.transport_at + 4), reply.end()),
                Bytes(echo.begin() + static_cast<ptrdiff_t>(header.transport_at + 4), echo.end()));
    }
  }
}

TEST(HeaderTest, WhatIsNoPacketIsRefused) {
  Bytes good = Lab::Udp(Lab::Ip());
  EXPECT_TRUE(ParseHeader(good).ok());
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(ParseHeader(ByteView(good).subspan(0, bytes)).ok()) << bytes;
  }
  for (size_t i = 0; i < 20; ++i) {
    Bytes wrong = good;
    wrong[i] ^= 0x10;
    EXPECT_FALSE(ParseHeader(wrong).ok()) << "byte " << i;
  }
}

TEST(HeaderTest, TransportIsFoundBehindIpv6Extensions) {
  Bytes udp = Lab::Udp(Lab::Ip(6));
  // Destination options of 16 bytes, then a fragment header of a first and of a later fragment.
  Bytes extensions = {44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 1, 0, 0, 0, 9};
  extensions.insert(extensions.end(), udp.begin() + 40, udp.end());
  Bytes packet = BuildIp(Lab::Ip(6), 60, extensions);
  absl::StatusOr<Header> header = ParseHeader(packet);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->protocol, kUdp);
  EXPECT_EQ(ParseTransport(*header, packet)->destination_port, 33434);
  EXPECT_TRUE(header->is_fragment);
  EXPECT_FALSE(header->is_later_fragment);
  packet[40 + 16 + 3] = 8;
  EXPECT_TRUE(ParseHeader(packet)->is_later_fragment);
}

TEST(FragmentTest, PiecesFitAndMakeTheWholeAgain) {
  IpFields ip = Lab::Ip();
  ip.dont_fragment = false;
  ip.identification = 77;
  Bytes data(3000);
  std::iota(data.begin(), data.end(), 0);
  Bytes whole = BuildUdp(ip, 1, 2, data);
  Bytes payload(whole.size() - 20);
  for (const Bytes& first : FragmentV4(whole, 1400)) {
    for (const Bytes& piece : FragmentV4(first, 620)) {  // fragments are fragmented again
      ASSERT_LE(piece.size(), 620u);
      ASSERT_TRUE(ParseHeader(piece).ok());
      EXPECT_EQ(ParseHeader(piece)->identification, 77);
      size_t at = (Get16(piece, 6) & 0x1fffu) * 8;
      std::copy(piece.begin() + 20, piece.end(), payload.begin() + static_cast<ptrdiff_t>(at));
      bool last = at + piece.size() - 20 == payload.size();
      EXPECT_EQ((Get16(piece, 6) & 0x2000) != 0, !last);
    }
  }
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), whole.begin() + 20));
}

TEST(IcmpErrorTest, LaysOutAnExtensionAsRfc4884And4950Say) {
  Quote quote;
  quote.kind = Quote::Kind::kTransport;
  quote.bytes = 8;
  quote.labels = {{24001, 5, 1}, {24002, 0, 3}};
  Bytes probe = Lab::Udp(Lab::Ip(4, 1));
  Bytes error = BuildIcmpError(IcmpError::kTimeExceeded, 0, At("203.0.113.1"), 255, quote,
                               *ParseHeader(probe), probe, 0);
  ByteView icmp = ByteView(error).subspan(20);
  EXPECT_TRUE(SumsToAllOnes(icmp));
  EXPECT_EQ(icmp[0], 11);
  EXPECT_EQ(icmp[5], 128 / 4) << "length of the quote in words";
  EXPECT_EQ(Bytes(icmp.begin() + 8, icmp.begin() + 36), Bytes(probe.begin(), probe.begin() + 28));
  EXPECT_EQ(Bytes(icmp.begin() + 36, icmp.begin() + 136), Bytes(100)) << "padding";
  ByteView extension = icmp.subspan(136);
  EXPECT_EQ(extension.size(), 16u);
  EXPECT_TRUE(SumsToAllOnes(extension));
  EXPECT_EQ(Bytes(extension.begin() + 4, extension.end()),
            (Bytes{0, 12, 1, 1, 0x05, 0xdc, 0x1a, 0x01, 0x05, 0xdc, 0x21, 0x03}));
  EXPECT_EQ(extension[0], 0x20);
}

TEST(IcmpErrorTest, QuotesAsToldAndNeverTooMuch) {
  struct Case {
    Quote::Kind kind;
    size_t bytes;
    size_t quoted4, quoted6;  // of a packet of 1,300 bytes
  };
  for (const Case& c : std::vector<Case>{{Quote::Kind::kFull, 0, 548, 1232},
                                         {Quote::Kind::kBytes, 20, 20, 20},
                                         {Quote::Kind::kBytes, 0, 0, 0},
                                         {Quote::Kind::kTransport, 8, 28, 48},
                                         {Quote::Kind::kGarbage, 0, 548, 1232}}) {
    for (int version : {4, 6}) {
      Bytes probe = Lab::Udp(Lab::Ip(version, 1), 1300);
      Header header = *ParseHeader(probe);
      Bytes error = BuildIcmpError(IcmpError::kTimeExceeded, 0,
                                   At(version == 4 ? "203.0.113.1" : "2001:db8:1::1"), 255,
                                   {.kind = c.kind, .bytes = c.bytes}, header, probe, 7);
      size_t headers = version == 4 ? 28 : 48;
      ByteView quoted = ByteView(error).subspan(headers);
      EXPECT_EQ(quoted.size(), version == 4 ? c.quoted4 : c.quoted6);
      bool same = std::equal(quoted.begin(), quoted.end(), probe.begin());
      EXPECT_EQ(same, c.kind != Quote::Kind::kGarbage);
      EXPECT_TRUE(ParseHeader(error).ok());
    }
  }
}

TEST(FlowHashTest, DependsOnWhatMakesAFlowAndOnNothingElse) {
  auto hash = [](const Bytes& packet) { return FlowHash(*ParseHeader(packet), packet, 1); };
  Bytes base = Lab::Udp(Lab::Ip());
  EXPECT_EQ(hash(base), hash(Lab::Udp(Lab::Ip(4, 3), 90))) << "TTL and length";
  EXPECT_NE(hash(base), hash(Lab::Udp(Lab::Ip(), 60, 40001))) << "port";
  EXPECT_NE(hash(BuildEchoRequest(Lab::Ip(), 1, 1, {})),
            hash(BuildEchoRequest(Lab::Ip(), 1, 2, {})))
      << "ICMP's checksum";
}

}  // namespace
}  // namespace assay::pathsim
