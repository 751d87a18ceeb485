#include "agent/probe/route/icmp_probe.h"

#include <grp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/probe/route/echo_engine.h"
#include "agent/probe/route/route_probes.h"
#include "assay/v1/agent.pb.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "gtest/gtest.h"
#include "tests/agent/route/net_namespace.h"
#include "tests/agent/route/probe_testing.h"
#include "tests/agent/route/tun_responder.h"

namespace assay::agent::route {
namespace icmp_probe_test {
namespace {

using assay::testing::Answer;
using assay::testing::EvidenceOf;
using assay::testing::NetNamespace;
using assay::testing::RefusesAddress;
using assay::testing::Request;
using assay::testing::Shell;
using assay::testing::SummaryOf;
using assay::testing::TunResponder;

class IcmpProbeTest : public ::testing::Test {
 protected:
  v1::Result Run(const std::string& probe, absl::Duration limit = absl::Minutes(1)) {
    ProbeRequest request = Request(probe);
    request.time_limit = limit;
    return MakeIcmpProbe()->Run(request, {});
  }

  NetNamespace namespace_;
};

TEST_F(IcmpProbeTest, MeasuresLoopbackAndFillsInDefaults) {
  v1::Result result = Run("icmp { target: '127.0.0.1' count: 10 interval { nanos: 2000000 } }");
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  EXPECT_EQ(result.origin(), v1::ORIGIN_MEASURED);
  EXPECT_GE(FromProto(result.finished_at()), FromProto(result.started_at()));
  v1::Evidence evidence = EvidenceOf(result);
  EXPECT_EQ(evidence.icmp().address(), "127.0.0.1");
  EXPECT_EQ(evidence.icmp().parameters().payload_bytes(), 56u);
  EXPECT_EQ(evidence.icmp().parameters().timeout().seconds(), 2);
  auto summary = SummaryOf(result);
  EXPECT_EQ(summary["sent"], 10);
  EXPECT_EQ(summary["received"], 10);
  EXPECT_EQ(summary["loss_ratio"], 0.0);
  EXPECT_GT(summary["rtt_ms"]["min"], 0.0);
  for (int i = 1; i < 10; ++i) {
    EXPECT_GT(evidence.icmp().send_offset_ns(i), evidence.icmp().send_offset_ns(i - 1));
  }
}

TEST_F(IcmpProbeTest, ResolvesNamesInTheFamilyAsked) {
  for (const char* family : {"IPV4", "IPV6"}) {
    v1::Result result =
        Run(absl::StrCat("icmp { target: 'localhost' count: 2 family: "
                         "ADDRESS_FAMILY_",
                         family, " interval { nanos: 1000000 } }"));
    if (result.reason().id() == "probe.not_resolved") continue;  // no ::1 in this hosts file
    ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
    EXPECT_EQ(EvidenceOf(result).icmp().address(),
              family == std::string("IPV4") ? "127.0.0.1" : "::1");
  }
}

TEST_F(IcmpProbeTest, SilentHostIsMeasuredAsTotalLoss) {
  TunResponder responder([](uint16_t, const std::string&) { return std::vector<Answer>(); });
  v1::Result result =
      Run("icmp { target: '10.77.0.9' count: 5 interval { nanos: 1000000 } timeout { nanos: "
          "50000000 } }");
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK);
  auto summary = SummaryOf(result);
  EXPECT_EQ(summary["sent"], 5);
  EXPECT_EQ(summary["loss_ratio"], 1.0);
  EXPECT_TRUE(summary["rtt_ms"]["median"].is_null());
}

TEST_F(IcmpProbeTest, HostWithoutARouteCannotMeasure) {
  v1::Result result = Run("icmp { target: '192.0.2.1' count: 3 interval { nanos: 1000000 } }");
  EXPECT_EQ(result.outcome(), v1::OUTCOME_NOT_MEASURABLE);
  EXPECT_EQ(result.reason().id(), "probe.nothing_sent");
  EXPECT_EQ(result.reason().args().at("detail"), "Network is unreachable");
  EXPECT_TRUE(result.evidence_zstd().empty());
}

TEST_F(IcmpProbeTest, UnknownNameFails) {
  v1::Result result = Run("icmp { target: 'no-such-host.invalid' }");
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.not_resolved");
  EXPECT_EQ(result.reason().args().at("host"), "no-such-host.invalid");
}

TEST_F(IcmpProbeTest, AddressOfTheWrongFamilyIsNotResolved) {
  v1::Result result = Run("icmp { target: '127.0.0.1' family: ADDRESS_FAMILY_IPV6 }");
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.not_resolved");
}

TEST_F(IcmpProbeTest, GuardDecidesAboutTheResolvedAddress) {
  RefusesAddress guard("127.0.0.1");
  ProbeRequest request =
      Request("icmp { target: 'localhost' family: ADDRESS_FAMILY_IPV4 count: 1 }");
  request.guard = &guard;
  request.time_limit = absl::Minutes(1);
  v1::Result result = MakeIcmpProbe()->Run(request, {});
  EXPECT_EQ(result.outcome(), v1::OUTCOME_NOT_MEASURABLE);
  EXPECT_TRUE(result.evidence_zstd().empty());
}

TEST_F(IcmpProbeTest, ParametersOutOfRangeAreRefusedByName) {
  struct Case {
    const char* text;
    const char* name;
  };
  for (const Case& bad :
       {Case{"payload_bytes: 15", "payload"}, Case{"payload_bytes: 65001", "payload"},
        Case{"dscp: 64", "dscp"}, Case{"count: 1000001", "count"},
        Case{"interval { nanos: 999999 }", "interval"},
        Case{"interval { seconds: -1 }", "interval"}, Case{"timeout { }", "timeout"},
        Case{"timeout { seconds: 61 }", "timeout"}}) {
    v1::Result result = Run(absl::StrCat("icmp { target: '127.0.0.1' ", bad.text, " }"));
    EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED) << bad.text;
    EXPECT_EQ(result.reason().id(), "probe.bad_parameter") << bad.text;
    EXPECT_EQ(result.reason().args().at("name"), bad.name);
  }
}

// The far end sets the flag when it has seen what it waits for: no fixed times.
TEST_F(IcmpProbeTest, CancelledProbeGivesOnlyWhatIsSettledAndSaysSo) {
  std::atomic<bool> cancelled = false;
  TunResponder responder([&](uint16_t sequence, const std::string&) {
    if (sequence == 60) cancelled = true;
    return sequence % 2 == 0 ? std::vector<Answer>{} : std::vector<Answer>{{}};
  });
  ProbeRequest request = Request(
      "icmp { target: '10.77.0.2' count: 1000000 interval { nanos: 5000000 } timeout { nanos: "
      "50000000 } }");
  v1::Result result = MakeIcmpProbe()->Run(request, {.cancelled = &cancelled});
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  ASSERT_EQ(result.marks_size(), 1);
  EXPECT_EQ(result.marks(0), v1::MARK_TRUNCATED);
  auto summary = SummaryOf(result);
  // Half is lost, exactly: nothing that was still under way is counted as lost or as received.
  uint64_t sent = summary["sent"];
  EXPECT_GT(sent, 10u);
  EXPECT_EQ(summary["received"], (sent + 1) / 2);
  EXPECT_GT(responder.Requests()["10.77.0.2"], static_cast<int>(sent)) << "the last are left out";
}

TEST_F(IcmpProbeTest, CancelledBeforeAnythingIsSettledFails) {
  std::atomic<bool> cancelled = true;
  ProbeRequest request = Request("icmp { target: '127.0.0.1' }");
  v1::Result result = MakeIcmpProbe()->Run(request, {.cancelled = &cancelled});
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.cancelled");
}

TEST_F(IcmpProbeTest, TimeLimitEndsTheProbe) {
  v1::Result result =
      Run("icmp { target: '127.0.0.1' count: 1000000 interval { nanos: 5000000 } timeout { nanos: "
          "50000000 } }",
          absl::Milliseconds(400));
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  EXPECT_EQ(result.marks(0), v1::MARK_TRUNCATED);
  EXPECT_EQ(SummaryOf(result)["loss_ratio"], 0.0);

  result = Run("icmp { target: '127.0.0.1' count: 1000000 }", absl::Milliseconds(200));
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.too_little_time");
}

TEST_F(IcmpProbeTest, ProgressRisesToOne) {
  double last = 0;
  bool rising = true;
  ProbeRequest request =
      Request("icmp { target: '127.0.0.1' count: 50 interval { nanos: 5000000 } }");
  ProbeControl control;
  control.progress = [&](double fraction) {
    rising = rising && fraction >= last && fraction <= 1;
    last = fraction;
  };
  MakeIcmpProbe()->Run(request, control);
  EXPECT_TRUE(rising);
  EXPECT_EQ(last, 1);
}

// Runs `work` in a process that has become nobody, without any capability; what it says.
std::string AsNobody(const std::function<std::string()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    bool dropped = setgroups(0, nullptr) == 0 && setresgid(65534, 65534, 65534) == 0 &&
                   setresuid(65534, 65534, 65534) == 0;
    bool powerless = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) < 0;
    std::string said = dropped && powerless ? work() : "still privileged";
    ssize_t written = write(ends[1], said.data(), said.size());
    _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  while (ssize_t size = read(ends[0], buffer, sizeof(buffer))) {
    if (size < 0) break;
    said.append(buffer, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return said;
}

TEST_F(IcmpProbeTest, NobodyMayProbeWhereThePingGroupRangeIsOpen) {
  Shell("sysctl -qw net.ipv4.ping_group_range='0 2147483647'");
  for (const char* target : {"127.0.0.1", "::1"}) {
    v1::Result result;
    ASSERT_TRUE(result.ParseFromString(AsNobody([&] {
      EXPECT_TRUE(MakeIcmpProbe()->Supported().supported());
      return Run(absl::StrCat("icmp { target: '", target,
                              "' count: 5 interval { nanos: 2000000 } }"))
          .SerializeAsString();
    })));
    ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
    v1::Evidence evidence = EvidenceOf(result);
    EXPECT_EQ(evidence.icmp().socket_kind(), "datagram");
    EXPECT_EQ(evidence.icmp().receive_source(), v1::TIMESTAMP_SOURCE_KERNEL);
    EXPECT_EQ(SummaryOf(result)["received"], 5);
  }
}

TEST_F(IcmpProbeTest, NobodyIsToldWhyAndWhatToDoWhereItIsClosed) {
  Shell("sysctl -qw net.ipv4.ping_group_range='1 0'");
  v1::Capability capability;
  ASSERT_TRUE(capability.ParseFromString(
      AsNobody([] { return MakeIcmpProbe()->Supported().SerializeAsString(); })));
  EXPECT_FALSE(capability.supported());
  EXPECT_EQ(Render(Language::kEnglish, capability.reason()),
            "no CAP_NET_RAW, and the ping group range (1-0) does not include this group (65534); "
            "run \"setcap cap_net_raw+ep\" on assay-agent, or widen the sysctl "
            "net.ipv4.ping_group_range");
  v1::Result result;
  ASSERT_TRUE(result.ParseFromString(
      AsNobody([&] { return Run("icmp { target: '127.0.0.1' }").SerializeAsString(); })));
  EXPECT_EQ(result.outcome(), v1::OUTCOME_NOT_MEASURABLE);
  EXPECT_EQ(result.reason().id(), "probe.icmp_not_permitted");
}

TEST_F(IcmpProbeTest, RootMayProbeByRawSocketWhereItIsClosed) {
  Shell("sysctl -qw net.ipv4.ping_group_range='1 0'");
  EXPECT_TRUE(MakeIcmpProbe()->Supported().supported());
  v1::Result result = Run("icmp { target: '::1' count: 2 interval { nanos: 1000000 } }");
  ASSERT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  EXPECT_EQ(EvidenceOf(result).icmp().socket_kind(), "raw");
}

}  // namespace
}  // namespace icmp_probe_test
}  // namespace assay::agent::route
