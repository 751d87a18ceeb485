// The engine against paths whose truth is known, in namespaces of their own.
#include "agent/probe/route/echo_engine.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/agent/route/net_namespace.h"
#include "tests/agent/route/tun_responder.h"

namespace assay::agent::route {
namespace echo_engine_test {
namespace {

using assay::testing::Answer;
using assay::testing::NetNamespace;
using assay::testing::Shell;
using assay::testing::TunResponder;
using Kind = Answer::Kind;

constexpr int64_t kMs = 1'000'000;

SocketAddress AddressOf(const std::string& text) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    address.length = sizeof(*v4);
  } else {
    EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr), 1) << text;
    v6->sin6_family = AF_INET6;
    address.length = sizeof(*v6);
  }
  return address;
}

struct Path {
  IpVersion version;
  SocketPreference socket;
};

class EngineOnPath : public ::testing::TestWithParam<Path> {
 protected:
  void SetUp() override { Shell("sysctl -qw net.ipv4.ping_group_range='0 2147483647'"); }

  bool v6() const { return GetParam().version == IpVersion::kV6; }
  std::string Target() const { return v6() ? "fd77::2" : "10.77.0.2"; }

  v1::IcmpEvidence Probe(const EchoPlan& plan, uint8_t dscp = 0) {
    auto engine = EchoEngine::Open({{AddressOf(Target()), plan, dscp}}, GetParam().socket);
    EXPECT_TRUE(engine.ok()) << engine.status();
    EXPECT_EQ((*engine)->Run({}), EchoEngine::End::kDone);
    EXPECT_EQ((*engine)->overflow(), 0u);
    return (*engine)->Outcome(0, 0).evidence;
  }

  NetNamespace namespace_;
};

INSTANTIATE_TEST_SUITE_P(All, EngineOnPath,
                         ::testing::Values(Path{IpVersion::kV4, SocketPreference::kRaw},
                                           Path{IpVersion::kV4, SocketPreference::kDatagram},
                                           Path{IpVersion::kV6, SocketPreference::kRaw},
                                           Path{IpVersion::kV6, SocketPreference::kDatagram}),
                         [](const auto& info) {
                           return std::string(info.param.version == IpVersion::kV4 ? "v4" : "v6") +
                                  (info.param.socket == SocketPreference::kRaw ? "Raw"
                                                                               : "Datagram");
                         });

std::set<uint16_t> Sequences(const v1::IcmpEvidence& evidence, bool (*wanted)(int64_t)) {
  std::set<uint16_t> sequences;
  for (int i = 0; i < evidence.rtt_ns_size(); ++i) {
    if (wanted(evidence.rtt_ns(i))) sequences.insert(static_cast<uint16_t>(i + 1));
  }
  return sequences;
}

// Every kind of damage in one probe of 60 requests; every count is known to the packet.
TEST_P(EngineOnPath, CountsEveryKindOfDamageToThePacket) {
  uint8_t unreachable = v6() ? 1 : 3;
  uint8_t exceeded = v6() ? 3 : 11;
  std::map<uint16_t, std::vector<Answer>> special = {
      {3, {}},
      {10, {}},
      {11, {}},
      {12, {}},
      {60, {}},
      {5, {{.delay_us = 1'300'000}}},
      {7, {{.delay_us = 1'200'000}}},
      {20, {{}, {}}},
      {21, {{}, {}, {.delay_us = 3000}}},
      {30, {{.after = 31}}},
      {35, {{.after = 37}}},
      {36, {{.after = 37}}},
      {40, {{.kind = Kind::kCorruptReply, .corrupt_at = 55}}},
      {41, {{.kind = Kind::kCorruptReply, .corrupt_at = 11}}},
      {42, {{.kind = Kind::kShortReply}}},
      {43, {{.kind = Kind::kCorruptReply}, {}}},
      {50, {{.kind = Kind::kError, .type = unreachable, .code = 1}}},
      {51, {{.kind = Kind::kErrorFullQuote, .type = unreachable, .code = 1}}},
      {52, {{.kind = Kind::kErrorWrongId, .type = unreachable, .code = 1}}},
      {53, {{.kind = Kind::kErrorShortQuote, .type = unreachable, .code = 1}}},
      {54, {{.kind = Kind::kError, .type = exceeded, .code = 0}}},
      {55, {{.kind = Kind::kErrorWrongTarget, .type = unreachable, .code = 1}}},
      {56, {{.kind = Kind::kStrangerReply}}},
  };
  TunResponder responder([&](uint16_t sequence, const std::string&) {
    auto found = special.find(sequence);
    return found == special.end() ? std::vector<Answer>{{.delay_us = 4000}} : found->second;
  });
  v1::IcmpEvidence evidence =
      Probe({.count = 60, .interval_ns = 10 * kMs, .timeout_ns = 1000 * kMs});

  ASSERT_EQ(evidence.rtt_ns_size(), 60);
  EXPECT_EQ(responder.Requests()[Target()], 60);
  EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt < 0; }),
            (std::set<uint16_t>{3, 10, 11, 12, 60, 40, 41, 42, 50, 51, 52, 53, 54, 55, 56}));
  EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt > 1000 * kMs; }),
            (std::set<uint16_t>{5, 7}));
  EXPECT_EQ(evidence.duplicates(), 3u);
  EXPECT_EQ(evidence.duplicated_requests(), 2u);
  EXPECT_EQ(evidence.reordered(), 3u);
  EXPECT_EQ(evidence.corrupted(), 4u);
  EXPECT_EQ(evidence.send_failures(), 0u);

  std::map<std::pair<int, int>, uint64_t> errors;
  for (const v1::IcmpErrorCount& error : evidence.errors()) {
    EXPECT_EQ(error.from(), v6() ? "fd77::ffff" : "10.77.255.254");
    errors[{error.type(), error.code()}] = error.count();
  }
  EXPECT_EQ(errors,
            (std::map<std::pair<int, int>, uint64_t>{{{unreachable, 1}, 2}, {{exceeded, 0}, 1}}));
  EXPECT_EQ(evidence.socket_kind(),
            GetParam().socket == SocketPreference::kRaw ? "raw" : "datagram");
}

// The truth of each packet is what the far end recorded; the delay measured here contains it.
TEST_P(EngineOnPath, DelayContainsTheRecordedOneAndLittleMore) {
  TunResponder responder([](uint16_t sequence, const std::string&) {
    return std::vector<Answer>{{.delay_us = 2000 + sequence * 100}};
  });
  v1::IcmpEvidence evidence =
      Probe({.count = 100, .interval_ns = 5 * kMs, .timeout_ns = 2000 * kMs});
  auto truth = responder.DelaysNs();
  std::vector<int64_t> errors;
  for (int i = 0; i < evidence.rtt_ns_size(); ++i) {
    int64_t recorded = truth.at({Target(), static_cast<uint16_t>(i + 1)});
    EXPECT_GE(evidence.rtt_ns(i), recorded) << i;
    errors.push_back(evidence.rtt_ns(i) - recorded);
  }
  ASSERT_EQ(errors.size(), 100u);
  std::sort(errors.begin(), errors.end());
  printf("delay measured minus recorded: median %.1f us, p95 %.1f us, max %.1f us\n",
         errors[50] / 1e3, errors[95] / 1e3, errors[99] / 1e3);
  EXPECT_EQ(evidence.send_source(), v1::TIMESTAMP_SOURCE_KERNEL);
  EXPECT_EQ(evidence.receive_source(), v1::TIMESTAMP_SOURCE_KERNEL);
}

TEST_P(EngineOnPath, CarriesTheDscpAndLargePayloads) {
  TunResponder responder(
      [](uint16_t, const std::string&) { return std::vector<Answer>{Answer{}}; });
  v1::IcmpEvidence evidence = Probe(
      {.count = 5, .interval_ns = 2 * kMs, .timeout_ns = 2000 * kMs, .payload_bytes = 1400}, 46);
  EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt >= 0; }).size(), 5u);
  EXPECT_EQ(responder.last_traffic_class(), 46 << 2);
}

TEST_P(EngineOnPath, PayloadLargerThanThePathIsFragmentedAndReadWhole) {
  EchoPlan plan{
      .count = 3, .interval_ns = 2 * kMs, .timeout_ns = 2000 * kMs, .payload_bytes = 65000};
  std::string loopback = v6() ? "::1" : "127.0.0.1";
  Shell("ip link set lo mtu 1500");
  auto engine = EchoEngine::Open({{AddressOf(loopback), plan, 0}}, GetParam().socket);
  ASSERT_TRUE(engine.ok()) << engine.status();
  (*engine)->Run({});
  v1::IcmpEvidence evidence = (*engine)->Outcome(0, 0).evidence;
  EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt >= 0; }).size(), 3u);
  EXPECT_EQ(evidence.corrupted(), 0u);
}

TEST_P(EngineOnPath, ManyTargetsAtOnceAreKeptApart) {
  constexpr int kTargets = 100;
  constexpr uint32_t kCount = 20;
  // Target n loses every request whose sequence number is n modulo 20, plus one.
  auto number = [](const std::string& to) {
    size_t at = to.find_last_of(".:");
    return std::stoi(to.substr(at + 1), nullptr, to[at] == ':' ? 16 : 10);
  };
  TunResponder responder([&](uint16_t sequence, const std::string& to) {
    return sequence == number(to) % 20 + 1 ? std::vector<Answer>{} : std::vector<Answer>{{}};
  });
  EchoPlan plan{.count = kCount, .interval_ns = 20 * kMs, .timeout_ns = 1000 * kMs};
  std::vector<EchoTarget> targets;
  for (int n = 1; n <= kTargets; ++n) {
    char text[64];
    snprintf(text, sizeof(text), v6() ? "fd77::1:%x" : "10.77.1.%d", n);
    targets.push_back({AddressOf(text), plan, 0});
  }
  auto engine = EchoEngine::Open(targets, GetParam().socket);
  ASSERT_TRUE(engine.ok()) << engine.status();
  ASSERT_EQ((*engine)->Run({}), EchoEngine::End::kDone);
  EXPECT_EQ((*engine)->overflow(), 0u);
  for (int n = 1; n <= kTargets; ++n) {
    v1::IcmpEvidence evidence = (*engine)->Outcome(static_cast<size_t>(n - 1), 0).evidence;
    EXPECT_EQ(evidence.rtt_ns_size() + static_cast<int>(evidence.send_failures()),
              static_cast<int>(kCount));
    EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt < 0; }),
              std::set<uint16_t>{static_cast<uint16_t>(n % 20 + 1)})
        << n;
  }
}

TEST_P(EngineOnPath, OtherPingsOnTheHostAreNotCounted) {
  TunResponder responder([](uint16_t, const std::string&) { return std::vector<Answer>{{}, {}}; });
  EchoPlan plan{.count = 20, .interval_ns = 5 * kMs, .timeout_ns = 1000 * kMs};
  // The same target twice in one engine (datagram sockets share the identifier), and a ping beside.
  auto engine = EchoEngine::Open({{AddressOf(Target()), plan, 0}, {AddressOf(Target()), plan, 0}},
                                 GetParam().socket);
  ASSERT_TRUE(engine.ok()) << engine.status();
  Shell("ping -c 30 -i 0.004 -q " + Target() + " > /dev/null & ping -c 30 -i 0.004 -q " + Target() +
        " > /dev/null &");
  (*engine)->Run({});
  for (size_t i : {0u, 1u}) {
    v1::IcmpEvidence evidence = (*engine)->Outcome(i, 0).evidence;
    EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt >= 0; }).size(), 20u);
    EXPECT_GE(evidence.duplicates(), 19u);  // that of the last may come after the end
    EXPECT_LE(evidence.duplicates(), 20u);
    EXPECT_EQ(evidence.corrupted(), 0u);
  }
}

TEST_P(EngineOnPath, MissingRouteIsNotLoss) {
  v1::IcmpEvidence evidence = Probe({.count = 8, .interval_ns = 2 * kMs, .timeout_ns = 1000 * kMs});
  EXPECT_EQ(evidence.send_failures(), 8u);
  EXPECT_EQ(evidence.send_errno(), ENETUNREACH);
  EXPECT_EQ(evidence.rtt_ns_size(), 0);
}

TEST_P(EngineOnPath, RefusedSendingIsNotLoss) {
  if (v6() && GetParam().socket == SocketPreference::kDatagram) {
    GTEST_SKIP() << "Linux does not tell datagram ICMPv6 sockets what the firewall dropped";
  }
  TunResponder responder(
      [](uint16_t, const std::string&) { return std::vector<Answer>{Answer{}}; });
  // Refused by this host's own firewall.
  Shell(std::string("nft add table inet t && nft add chain inet t o "
                    "'{ type filter hook output priority 0; }' && nft add rule inet t o ") +
        (v6() ? "icmpv6" : "icmp") + " type echo-request drop");
  v1::IcmpEvidence evidence = Probe({.count = 8, .interval_ns = 2 * kMs, .timeout_ns = 1000 * kMs});
  EXPECT_EQ(evidence.send_failures(), 8u);
  EXPECT_EQ(evidence.send_errno(), EPERM);
  EXPECT_EQ(evidence.rtt_ns_size(), 0);
}

// A queue of this host that overflows is no loss on the path. Whatever the kernel claims to have
// sent must have been seen by the far end.
TEST_P(EngineOnPath, FullQueueOfThisHostIsNotLoss) {
  if (v6() && GetParam().socket == SocketPreference::kDatagram) {
    GTEST_SKIP() << "Linux does not tell datagram ICMPv6 sockets what a queue dropped";
  }
  TunResponder responder(
      [](uint16_t, const std::string&) { return std::vector<Answer>{Answer{}}; });
  // Room for one packet, which takes a long time to drain.
  Shell("tc qdisc add dev tun0 root tbf rate 20kbit burst 150 limit 150");
  v1::IcmpEvidence evidence =
      Probe({.count = 30, .interval_ns = 5 * kMs, .timeout_ns = 2000 * kMs});
  EXPECT_GT(evidence.send_failures(), 0u);
  EXPECT_EQ(evidence.send_errno(), ENOBUFS);
  EXPECT_EQ(evidence.rtt_ns_size() + static_cast<int>(evidence.send_failures()), 30);
  EXPECT_EQ(Sequences(evidence, [](int64_t rtt) { return rtt < 0; }), std::set<uint16_t>{});
}

}  // namespace
}  // namespace echo_engine_test
}  // namespace assay::agent::route
