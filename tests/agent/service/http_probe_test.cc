#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "tests/agent/service/probe_harness.h"
#include "tests/agent/service/tiny_server.h"

namespace assay::agent::service {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Connection = TinyServer::Connection;

class HttpProbeTest : public ::testing::Test {
 protected:
  CleanEnvironment clean_;
};

void SayHello(const Connection& c) { c.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"); }

TEST_F(HttpProbeTest, EachRequestHasItsOwnConnection) {
  TinyServer server(SayHello);
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.probe.mutable_http()->set_count(4);
  std::vector<double> progress;
  ProbeControl control;
  control.progress = [&progress](double fraction) { progress.push_back(fraction); };
  v1::Result result = MakeHttpProbe()->Run(request, control);
  v1::HttpEvidence evidence = EvidenceOf(result);
  EXPECT_EQ(evidence.samples_size(), 4);
  EXPECT_EQ(server.requests().size(), 4u);  // the server takes one request a connection
  EXPECT_THAT(progress, ::testing::ElementsAre(0.25, 0.5, 0.75, 1.0));
  EXPECT_EQ(evidence.address(), "127.0.0.1");
  EXPECT_EQ(evidence.url(), absl::StrCat("http://127.0.0.1:", server.port(), "/"));
  EXPECT_EQ(result.marks_size(), 0);
  EXPECT_EQ(result.versions().count("curl"), 1u);
  for (int i = 1; i < evidence.samples_size(); ++i) {
    EXPECT_GE(evidence.samples(i).start_offset_ns(), evidence.samples(i - 1).start_offset_ns());
  }
}

TEST_F(HttpProbeTest, APhaseIncludesTheOnesBeforeIt) {
  TinyServer server(SayHello);
  ProbeRequest request = HttpTo("localhost", server.port());
  request.probe.mutable_http()->set_family(v1::ADDRESS_FAMILY_IPV4);
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_OK) << sample.error();
  EXPECT_GT(sample.name_lookup_ns(), 0);
  EXPECT_GE(sample.connect_ns(), sample.name_lookup_ns());
  EXPECT_GE(sample.first_byte_ns(), sample.connect_ns());
  EXPECT_GE(sample.total_ns(), sample.first_byte_ns());
  EXPECT_DOUBLE_EQ(sample.speed_bytes_per_s(), 5e9 / static_cast<double>(sample.total_ns()));
}

TEST_F(HttpProbeTest, AsksWhatTheFieldsSay) {
  TinyServer server(SayHello);
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.probe.mutable_http()->set_path("/a/b?c=%20&d=1");
  request.probe.mutable_http()->set_host_name("gpu.example.com");
  v1::HttpEvidence evidence = EvidenceOf(RunHttp(request));
  ASSERT_EQ(evidence.samples(0).outcome(), v1::HTTP_OUTCOME_OK) << evidence.samples(0).error();
  std::string head = server.requests().at(0);
  EXPECT_THAT(head, StartsWith("GET /a/b?c=%20&d=1 HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr(absl::StrCat("\r\nHost: gpu.example.com:", server.port(), "\r\n")));
  EXPECT_THAT(head, HasSubstr("\r\nUser-Agent: assay/"));
  EXPECT_EQ(evidence.address(), "127.0.0.1");
  EXPECT_THAT(evidence.url(), StartsWith("http://gpu.example.com:"));
}

TEST_F(HttpProbeTest, ReachesIpv6Literals) {
  TinyServer server(SayHello, true);
  for (const char* target : {"::1", "[::1]"}) {
    v1::HttpEvidence evidence = EvidenceOf(RunHttp(HttpTo(target, server.port())));
    EXPECT_EQ(evidence.samples(0).outcome(), v1::HTTP_OUTCOME_OK) << evidence.samples(0).error();
    EXPECT_EQ(evidence.address(), "::1");
    EXPECT_THAT(evidence.url(), StartsWith("http://[::1]:"));
  }
}

TEST_F(HttpProbeTest, ALimitedBodyIsNoFailure) {
  TinyServer server([](const Connection& c) {
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(100000, 'x'));
  });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.probe.mutable_http()->set_max_body_bytes(1000);
  v1::HttpSample limited = OnlySample(request);
  EXPECT_EQ(limited.outcome(), v1::HTTP_OUTCOME_OK);
  EXPECT_EQ(limited.body_bytes(), 1000u);
  EXPECT_TRUE(limited.body_limited());
  EXPECT_EQ(limited.error(), "");

  request.probe.mutable_http()->set_max_body_bytes(100000);
  v1::HttpSample whole = OnlySample(request);
  EXPECT_EQ(whole.outcome(), v1::HTTP_OUTCOME_OK);
  EXPECT_EQ(whole.body_bytes(), 100000u);
  EXPECT_FALSE(whole.body_limited());
}

TEST_F(HttpProbeTest, ExpectedStatusesReplaceTheUsualOnes) {
  TinyServer server(
      [](const Connection& c) { c.Send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"); });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  EXPECT_EQ(OnlySample(request).outcome(), v1::HTTP_OUTCOME_STATUS);
  request.probe.mutable_http()->add_expect_status(403);
  EXPECT_EQ(OnlySample(request).outcome(), v1::HTTP_OUTCOME_OK);
  request.probe.mutable_http()->clear_expect_status();
  request.probe.mutable_http()->add_expect_status(200);
  EXPECT_EQ(OnlySample(request).outcome(), v1::HTTP_OUTCOME_STATUS);
}

TEST_F(HttpProbeTest, TheGuardIsAskedAboutTheAddress) {
  TinyServer server(SayHello);
  auto guard = guard::ParseGuard("targets: {deny: ['127.0.0.0/8', '::1']}", "agent.yaml");
  ProbeRequest request = HttpTo("localhost", server.port());
  request.guard = guard.get();
  v1::Result result = RunHttp(request);
  EXPECT_EQ(result.outcome(), v1::OUTCOME_NOT_MEASURABLE);
  EXPECT_EQ(result.reason().id(), "guard.denied_address");
  EXPECT_TRUE(server.requests().empty());
}

TEST_F(HttpProbeTest, UsesTheProxyOfTheEnvironmentAndNamesItWithoutItsPassword) {
  TinyServer proxy(SayHello);
  std::string address = absl::StrCat("127.0.0.1:", proxy.port());
  setenv("http_proxy", absl::StrCat("http://user:secret@", address).c_str(), 1);
  v1::Result result = RunHttp(HttpTo("no-such-host.invalid", 8080));
  v1::HttpEvidence evidence = EvidenceOf(result);
  EXPECT_EQ(evidence.samples(0).outcome(), v1::HTTP_OUTCOME_OK) << evidence.samples(0).error();
  EXPECT_EQ(evidence.proxy(), absl::StrCat("http://", address));
  EXPECT_EQ(evidence.address(), "");
  EXPECT_THAT(proxy.requests().at(0), StartsWith("GET http://no-such-host.invalid:8080/ HTTP/1.1"));
  ASSERT_EQ(result.notes_size(), 1);
  EXPECT_EQ(result.notes(0).id(), "probe.through_proxy");
}

TEST_F(HttpProbeTest, AProxyIsSentToTheAllowedHostAndNotToTheNameInTheUrl) {
  TinyServer proxy([](const Connection& c) { c.Send("HTTP/1.1 403 No\r\n\r\n"); });
  setenv("http_proxy", absl::StrCat("127.0.0.1:", proxy.port()).c_str(), 1);
  ProbeRequest request = HttpTo("203.0.113.7", 8080);
  request.probe.mutable_http()->set_host_name("internal.example");
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_CONNECT) << sample.error();
  EXPECT_THAT(proxy.requests().at(0), StartsWith("CONNECT 203.0.113.7:8080 HTTP/1.1"));
}

TEST_F(HttpProbeTest, TheGuardRefusesProxiedTargetsToo) {
  TinyServer proxy(SayHello);
  setenv("http_proxy", absl::StrCat("127.0.0.1:", proxy.port()).c_str(), 1);
  auto guard = guard::ParseGuard("targets: {deny: ['127.0.0.0/8', '::1']}", "agent.yaml");
  ProbeRequest request = HttpTo("localhost", 8080);
  request.guard = guard.get();
  EXPECT_EQ(RunHttp(request).outcome(), v1::OUTCOME_NOT_MEASURABLE);
  EXPECT_TRUE(proxy.requests().empty());
}

struct BadCase {
  const char* parameter;
  void (*set)(v1::HttpProbe&);
};

TEST_F(HttpProbeTest, RefusesParametersThatSayNothingSensible) {
  const BadCase cases[] = {
      {"scheme", [](v1::HttpProbe& p) { p.set_scheme("file"); }},
      {"target", [](v1::HttpProbe& p) { p.set_target("good.example@127.0.0.1"); }},
      {"target", [](v1::HttpProbe& p) { p.set_target("a/b"); }},
      {"target", [](v1::HttpProbe& p) { p.set_target(""); }},
      {"target", [](v1::HttpProbe& p) { p.set_target("fe80::1%eth0"); }},
      {"host_name", [](v1::HttpProbe& p) { p.set_host_name("a\r\nX: y"); }},
      {"path", [](v1::HttpProbe& p) { p.set_path("x"); }},
      {"path", [](v1::HttpProbe& p) { p.set_path("/a b"); }},
      {"path", [](v1::HttpProbe& p) { p.set_path("/a\r\nX: y"); }},
      {"port", [](v1::HttpProbe& p) { p.set_port(65536); }},
      {"count", [](v1::HttpProbe& p) { p.set_count(100001); }},
      {"timeout", [](v1::HttpProbe& p) { p.mutable_timeout()->set_seconds(-1); }},
      {"expect_status", [](v1::HttpProbe& p) { p.add_expect_status(99); }},
  };
  for (const BadCase& c : cases) {
    ProbeRequest request = HttpTo("127.0.0.1", 80);
    c.set(*request.probe.mutable_http());
    v1::Result result = RunHttp(request);
    EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
    EXPECT_EQ(result.reason().id(), "probe.bad_parameter");
    EXPECT_EQ(result.reason().args().at("name"), c.parameter);
  }
}

}  // namespace
}  // namespace assay::agent::service
