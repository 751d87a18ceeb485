// Servers that do what a healthy one does not: each must be told from the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/agent/service/probe_harness.h"
#include "tests/agent/service/tiny_server.h"

namespace assay::agent::service {
namespace {

using ::testing::HasSubstr;
using Connection = TinyServer::Connection;

class HttpMisbehaviourTest : public ::testing::Test {
 protected:
  CleanEnvironment clean_;
};

std::string Answer(int status, const std::string& body) {
  return absl::StrCat("HTTP/1.1 ", status, " X\r\nContent-Length: ", body.size(),
                      "\r\nConnection: close\r\n\r\n", body);
}

struct ServerCase {
  const char* name;
  void (*act)(const Connection&);
  v1::HttpOutcome outcome;
  const char* error;  // part of it
  uint32_t status;
  uint64_t body_bytes;
  bool connected;
  bool first_byte;
};

const ServerCase kServerCases[] = {
    {"answers", [](const Connection& c) { c.Send(Answer(200, "hello")); }, v1::HTTP_OUTCOME_OK, "",
     200, 5, true, true},
    {"no content", [](const Connection& c) { c.Send("HTTP/1.1 204 No\r\n\r\n"); },
     v1::HTTP_OUTCOME_OK, "", 204, 0, true, true},
    {"redirects, not followed",
     [](const Connection& c) {
       c.Send("HTTP/1.1 302 F\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
     },
     v1::HTTP_OUTCOME_OK, "", 302, 0, true, true},
    {"fails", [](const Connection& c) { c.Send(Answer(500, "oops")); }, v1::HTTP_OUTCOME_STATUS,
     "status 500", 500, 4, true, true},
    {"truncates",
     [](const Connection& c) { c.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"); },
     v1::HTTP_OUTCOME_TRUNCATED, "", 200, 4, true, true},
    {"truncates a chunk",
     [](const Connection& c) {
       c.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\npart");
     },
     v1::HTTP_OUTCOME_TRUNCATED, "", 200, 4, true, true},
    {"resets before an answer", [](const Connection& c) { c.Reset(); }, v1::HTTP_OUTCOME_OTHER,
     "reset", 0, 0, true, false},
    {"closes before an answer", [](const Connection&) {}, v1::HTTP_OUTCOME_OTHER, "Empty reply", 0,
     0, true, false},
    {"speaks garbage", [](const Connection& c) { c.Send("SSH-2.0-OpenSSH_9.2\r\n"); },
     v1::HTTP_OUTCOME_OTHER, "HTTP/0.9", 0, 0, true, false},
};

TEST_F(HttpMisbehaviourTest, EachIsToldFromTheOthers) {
  for (const ServerCase& c : kServerCases) {
    SCOPED_TRACE(c.name);
    TinyServer server(c.act);
    v1::HttpSample sample = OnlySample(HttpTo("127.0.0.1", server.port()));
    EXPECT_EQ(v1::HttpOutcome_Name(sample.outcome()), v1::HttpOutcome_Name(c.outcome))
        << sample.error();
    EXPECT_THAT(sample.error(), HasSubstr(c.error));
    EXPECT_EQ(sample.error().empty(), c.outcome == v1::HTTP_OUTCOME_OK);
    EXPECT_EQ(sample.status(), c.status);
    EXPECT_EQ(sample.body_bytes(), c.body_bytes);
    EXPECT_EQ(sample.connect_ns() > 0, c.connected);
    EXPECT_EQ(sample.first_byte_ns() > 0, c.first_byte);
    EXPECT_EQ(sample.tls_ns(), 0);
    EXPECT_GE(sample.total_ns(), sample.first_byte_ns());
  }
}

TEST_F(HttpMisbehaviourTest, AResetInsideTheBodyIsTruncation) {
  TinyServer server([](const Connection& c) {
    c.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
    c.Reset();
  });
  v1::HttpSample sample = OnlySample(HttpTo("127.0.0.1", server.port()));
  // The reset may overtake the part that was sent.
  EXPECT_EQ(sample.outcome(),
            sample.status() == 200 ? v1::HTTP_OUTCOME_TRUNCATED : v1::HTTP_OUTCOME_OTHER);
}

TEST_F(HttpMisbehaviourTest, NobodyListens) {
  uint16_t port = TinyServer([](const Connection&) {}).port();
  v1::HttpSample sample = OnlySample(HttpTo("127.0.0.1", port));
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_CONNECT);
  EXPECT_EQ(sample.connect_ns(), 0);
  EXPECT_GT(sample.total_ns(), 0);
}

TEST_F(HttpMisbehaviourTest, AStallIsATimeOut) {
  TinyServer server([](const Connection& c) { c.Stall(); });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  *request.probe.mutable_http()->mutable_timeout() = ToProto(absl::Milliseconds(60));
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_TIMED_OUT);
  EXPECT_GT(sample.connect_ns(), 0);
  EXPECT_EQ(sample.first_byte_ns(), 0);
}

TEST_F(HttpMisbehaviourTest, AListenerThatNeverAcceptsIsATimeOutBeforeTheConnect) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  std::vector<int> queued;  // fill the backlog until a connect does not get through
  for (bool full = false; !full && queued.size() < 16;) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(fd, reinterpret_cast<sockaddr*>(&address), length);
    pollfd wait{fd, POLLOUT, 0};
    full = poll(&wait, 1, 50) == 0;
    queued.push_back(fd);
  }
  ProbeRequest request = HttpTo("127.0.0.1", ntohs(address.sin_port));
  *request.probe.mutable_http()->mutable_timeout() = ToProto(absl::Milliseconds(60));
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_TIMED_OUT);
  EXPECT_EQ(sample.connect_ns(), 0);
  for (int fd : queued) close(fd);
  close(listener);
}

TEST_F(HttpMisbehaviourTest, ATlsHelloThatMeetsGarbageIsATlsFailure) {
  TinyServer server([](const Connection& c) { c.Send("HTTP/1.1 400 Bad\r\n\r\n"); });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.probe.mutable_http()->set_scheme("https");
  v1::HttpSample sample = OnlySample(request);
  EXPECT_EQ(sample.outcome(), v1::HTTP_OUTCOME_TLS) << sample.error();
  EXPECT_GT(sample.connect_ns(), 0);
  EXPECT_EQ(sample.tls_ns(), 0);
}

TEST_F(HttpMisbehaviourTest, ATlsHelloThatIsResetIsATlsFailure) {
  TinyServer server([](const Connection& c) { c.Reset(); });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.probe.mutable_http()->set_scheme("https");
  EXPECT_EQ(OnlySample(request).outcome(), v1::HTTP_OUTCOME_TLS);
}

TEST_F(HttpMisbehaviourTest, ANameThatDoesNotResolve) {
  v1::HttpEvidence evidence = EvidenceOf(RunHttp(HttpTo("no-such-host.invalid", 80)));
  ASSERT_EQ(evidence.samples_size(), 1);
  EXPECT_EQ(evidence.samples(0).outcome(), v1::HTTP_OUTCOME_NAME_LOOKUP);
  EXPECT_EQ(evidence.samples(0).connect_ns(), 0);
  EXPECT_EQ(evidence.address(), "");
}

TEST_F(HttpMisbehaviourTest, CancelEndsAStalledRequest) {
  std::atomic<bool> cancelled = false;
  TinyServer server([&](const Connection& c) {
    cancelled = true;
    c.Stall();
  });
  v1::Result result = RunHttp(HttpTo("127.0.0.1", server.port()), &cancelled);
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.cancelled");
  EXPECT_TRUE(result.evidence_zstd().empty());
}

TEST_F(HttpMisbehaviourTest, CancelKeepsTheRequestsThatWereSettled) {
  std::atomic<bool> cancelled = false;
  std::atomic<int> served = 0;
  TinyServer server([&](const Connection& c) {
    if (++served < 3) {
      c.Send(Answer(200, "x"));
    } else {
      cancelled = true;
      c.Stall();
    }
  });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.probe.mutable_http()->set_count(10);
  v1::Result result = RunHttp(request, &cancelled);
  EXPECT_EQ(EvidenceOf(result).samples_size(), 2);
  ASSERT_EQ(result.marks_size(), 1);
  EXPECT_EQ(result.marks(0), v1::MARK_TRUNCATED);
}

TEST_F(HttpMisbehaviourTest, TheTimeLimitEndsAStalledRequest) {
  TinyServer server([](const Connection& c) { c.Stall(); });
  ProbeRequest request = HttpTo("127.0.0.1", server.port());
  request.time_limit = absl::Milliseconds(80);
  v1::Result result = RunHttp(request);
  EXPECT_EQ(result.outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(result.reason().id(), "probe.too_little_time");
}

}  // namespace
}  // namespace assay::agent::service
