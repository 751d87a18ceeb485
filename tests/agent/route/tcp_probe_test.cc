#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "agent/probe/route/route_probes.h"
#include "agent/probe/route/tcp_connector.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/agent/route/net_namespace.h"
#include "tests/agent/route/probe_testing.h"
#include "tests/agent/route/tun_responder.h"

namespace assay::agent::route {
namespace tcp_probe_test {
namespace {

using assay::testing::Answer;
using assay::testing::EvidenceOf;
using assay::testing::NetNamespace;
using assay::testing::RefusesAddress;
using assay::testing::Request;
using assay::testing::Shell;
using assay::testing::ShellOutput;
using assay::testing::SummaryOf;
using assay::testing::TunResponder;

// Accepts connections, greets each, reads it to its end and records how that came.
class Listener {
 public:
  explicit Listener(int family) : fd_(socket(family, SOCK_STREAM, 0)) {
    sockaddr_in6 address = {};
    address.sin6_family = static_cast<sa_family_t>(family);  // any address, any port
    socklen_t length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_, plain, length), 0);
    EXPECT_EQ(listen(fd_, 100), 0);
    getsockname(fd_, plain, &length);
    port_ = ntohs(address.sin6_port);
    thread_ = std::thread([this] { Serve(); });
  }
  // Waits until `count` connections were accepted and ended.
  void Join(int count) {
    wanted_ = count;
    thread_.join();
    close(fd_);
  }
  int port() const { return port_; }
  // Valid after Join.
  int clean_ends = 0;
  int resets = 0;
  std::set<int> source_ports;

 private:
  void Serve() {
    int ended = 0;
    while (ended != wanted_) {
      pollfd ready = {fd_, POLLIN, 0};
      if (poll(&ready, 1, 10) != 1) continue;
      sockaddr_in6 peer = {};
      socklen_t length = sizeof(peer);
      int connection = accept(fd_, reinterpret_cast<sockaddr*>(&peer), &length);
      source_ports.insert(ntohs(peer.sin6_port));
      // As SSH does: unread bytes must not make the other side reset the connection.
      EXPECT_EQ(send(connection, "hello\r\n", 7, MSG_NOSIGNAL), 7);
      char byte;
      ssize_t got = recv(connection, &byte, 1, 0);
      (got == 0 ? clean_ends : resets) += 1;
      close(connection);
      ++ended;
    }
  }

  int fd_;
  int port_ = 0;
  std::atomic<int> wanted_{-1};
  std::thread thread_;
};

class TcpProbeTest : public ::testing::Test {
 protected:
  v1::Result Run(const std::string& probe, absl::Duration limit = absl::Minutes(1)) {
    ProbeRequest request = Request(probe);
    request.time_limit = limit;
    return MakeTcpProbe()->Run(request, {});
  }

  // `rule` on packets that arrive here.
  void FilterInput(const std::string& rule) {
    Shell(
        "nft add table inet t && nft add chain inet t i "
        "'{ type filter hook input priority 0; }' && nft add rule inet t i " +
        rule);
  }

  NetNamespace namespace_;
};

TEST_F(TcpProbeTest, ConnectsAreTimedEachFromItsOwnPortAndEndCleanly) {
  for (int family : {AF_INET, AF_INET6}) {
    Listener listener(family);
    v1::Result result =
        Run(absl::StrCat("tcp { target: '", family == AF_INET ? "127.0.0.1" : "::1",
                         "' port: ", listener.port(), " count: 20 interval { nanos: 2000000 } }"));
    listener.Join(20);
    ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
    auto summary = SummaryOf(result);
    EXPECT_EQ(summary["attempts"], 20);
    EXPECT_EQ(summary["failures"], 0);
    EXPECT_EQ(summary["syn_retransmits"], 0);
    EXPECT_GT(summary["connect_ms"]["min"], 0.0);
    EXPECT_EQ(listener.clean_ends, 20);
    EXPECT_EQ(listener.resets, 0);
    EXPECT_EQ(listener.source_ports.size(), 20u);
  }
}

TEST_F(TcpProbeTest, RefusedIsMeasured) {
  v1::Result result =
      Run("tcp { target: '127.0.0.1' port: 9 count: 5 interval { nanos: 1000000 } }");
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  auto summary = SummaryOf(result);
  EXPECT_EQ(summary["failure_ratio"], 1.0);
  EXPECT_EQ(summary["reasons"].dump(), R"({"refused":5})");
  EXPECT_TRUE(summary["connect_ms"]["median"].is_null());
  EXPECT_EQ(EvidenceOf(result).tcp().connect_errno(0), ECONNREFUSED);
}

// Four connects are under way at once; the kernel sends each SYN again after a second.
TEST_F(TcpProbeTest, SilentPortTimesOutWithItsSynRetransmissions) {
  FilterInput("tcp dport 9 drop");
  v1::Result result =
      Run("tcp { target: '127.0.0.1' port: 9 count: 4 interval { nanos: 50000000 } timeout { "
          "seconds: 2 } "
          "}");
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  auto summary = SummaryOf(result);
  EXPECT_EQ(summary["reasons"].dump(), R"({"timed_out":4})");
  EXPECT_EQ(summary["syn_retransmit_ratio"], 1.0);
  v1::Evidence evidence = EvidenceOf(result);
  for (uint32_t retransmits : evidence.tcp().syn_retransmits()) {
    EXPECT_GE(retransmits, 1u);
  }
}

// The rule drops every other SYN: the first of each connect, as they come one after the other.
TEST_F(TcpProbeTest, ConnectThatNeededASecondSynIsCountedAsRetransmission) {
  FilterInput("'tcp flags & (syn|ack) == syn numgen inc mod 2 0 counter drop'");
  Listener listener(AF_INET);
  v1::Result result =
      Run(absl::StrCat("tcp { target: '127.0.0.1' port: ", listener.port(),
                       " count: 2 interval { seconds: 3 } timeout { seconds: 10 } }"));
  listener.Join(2);
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  auto summary = SummaryOf(result);
  EXPECT_EQ(summary["failures"], 0);
  EXPECT_EQ(summary["syn_retransmits"], 2);
  EXPECT_EQ(summary["syn_retransmit_ratio"], 1.0);
  EXPECT_GE(summary["connect_ms"]["min"], 900.0) << "RFC 6298: a lost SYN costs a second";
  EXPECT_NE(ShellOutput("nft list ruleset").find("counter packets 2 "), std::string::npos)
      << "the path dropped two SYNs";
}

TEST_F(TcpProbeTest, UnreachableByTheWordOfARouterIsMeasured) {
  TunResponder responder([](uint16_t, const std::string&) { return std::vector<Answer>(); });
  responder.RefuseTcp(3, 1);
  v1::Result result =
      Run("tcp { target: '10.77.0.2' port: 443 count: 3 interval { nanos: 1000000 } }");
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  EXPECT_EQ(SummaryOf(result)["reasons"].dump(), R"({"unreachable":3})");
  EXPECT_EQ(EvidenceOf(result).tcp().connect_errno(0), EHOSTUNREACH);
}

TEST_F(TcpProbeTest, HostWithoutARouteCannotMeasure) {
  v1::Result result =
      Run("tcp { target: '192.0.2.1' port: 443 count: 3 interval { nanos: 1000000 } }");
  EXPECT_EQ(result.outcome(), v1::OUTCOME_NOT_MEASURABLE);
  EXPECT_EQ(result.reason().id(), "probe.nothing_sent");
  EXPECT_EQ(result.reason().args().at("address"), "192.0.2.1");
}

TEST_F(TcpProbeTest, GuardAndResolverAreAskedFirst) {
  RefusesAddress guard("127.0.0.1");
  ProbeRequest request = Request("tcp { target: '127.0.0.1' port: 9 }");
  request.guard = &guard;
  EXPECT_EQ(MakeTcpProbe()->Run(request, {}).outcome(), v1::OUTCOME_NOT_MEASURABLE);
  v1::Result result = Run("tcp { target: 'no-such-host.invalid' port: 9 }");
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.not_resolved");
}

TEST_F(TcpProbeTest, PortOutOfRangeIsRefused) {
  for (const char* port : {"0", "65536"}) {
    v1::Result result = Run(absl::StrCat("tcp { target: '127.0.0.1' port: ", port, " }"));
    EXPECT_EQ(result.reason().id(), "probe.bad_parameter") << port;
  }
}

TEST_F(TcpProbeTest, TimeLimitLeavesOutWhatIsNotSettled) {
  v1::Result result =
      Run("tcp { target: '127.0.0.1' port: 9 count: 100000 interval { nanos: 5000000 } timeout { "
          "nanos: "
          "100000000 } }",
          absl::Milliseconds(500));
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  EXPECT_EQ(result.marks(0), v1::MARK_TRUNCATED);
  FilterInput("tcp dport 9 drop");
  result = Run("tcp { target: '127.0.0.1' port: 9 }", absl::Milliseconds(200));
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.too_little_time");
}

TEST_F(TcpProbeTest, CancelledIsHonoured) {
  FilterInput("tcp dport 9 drop");
  std::atomic<bool> cancelled = true;
  v1::Result result = MakeTcpProbe()->Run(Request("tcp { target: '127.0.0.1' port: 9 }"),
                                          {.cancelled = &cancelled});
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.cancelled");
}

TEST(OutcomeOfErrno, NamesTheReason) {
  EXPECT_EQ(OutcomeOfErrno(0), v1::CONNECT_OUTCOME_CONNECTED);
  EXPECT_EQ(OutcomeOfErrno(ECONNREFUSED), v1::CONNECT_OUTCOME_REFUSED);
  EXPECT_EQ(OutcomeOfErrno(ETIMEDOUT), v1::CONNECT_OUTCOME_TIMED_OUT);
  EXPECT_EQ(OutcomeOfErrno(ENETUNREACH), v1::CONNECT_OUTCOME_UNREACHABLE);
  EXPECT_EQ(OutcomeOfErrno(EHOSTUNREACH), v1::CONNECT_OUTCOME_UNREACHABLE);
  EXPECT_EQ(OutcomeOfErrno(ECONNRESET), v1::CONNECT_OUTCOME_RESET);
  EXPECT_EQ(OutcomeOfErrno(EPROTO), v1::CONNECT_OUTCOME_OTHER);
}

}  // namespace
}  // namespace tcp_probe_test
}  // namespace assay::agent::route
