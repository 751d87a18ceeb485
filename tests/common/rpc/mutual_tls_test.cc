// A real gRPC server and real clients over loopback.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "assay/v1/agent.grpc.pb.h"
#include "common/base/message.h"
#include "common/rpc/credentials.h"
#include "common/rpc/peer.h"
#include "common/rpc/status.h"
#include "tests/common/tls/test_peers.h"
#include "tests/common/tls/test_pki.h"

// c-ares 1.18 loses ten bytes whenever gRPC resolves "localhost".
extern "C" const char* __lsan_default_suppressions() { return "leak:libcares"; }  // NOLINT

namespace assay::rpc {
namespace {

using assay::testing::ConnectProxy;
using assay::testing::ScopedProxyVariables;
using assay::testing::TestCa;
using assay::testing::TestDirectory;
using ::testing::HasSubstr;

// Answers with what it sees of the caller: the URI, "none", or the error.
class Mirror : public v1::EnrolmentService::Service {
 public:
  grpc::Status Enrol(grpc::ServerContext* context, const v1::EnrolRequest* request,
                     v1::EnrolResponse* response) override {
    if (!request->token().empty()) {
      return ToGrpc(
          Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", request->token()}}));
    }
    auto peer = PeerCertificate(*context->auth_context());
    if (!peer.ok()) return ToGrpc(peer.status());
    response->set_subject(peer->has_value() ? (*peer)->uri : "none");
    response->set_agent_id(peer->has_value() ? (*peer)->serial : "");
    response->set_certificate_chain_pem(std::to_string(request->csr_der().size()));
    return grpc::Status::OK;
  }
};

class MutualTlsTest : public ::testing::Test {
 protected:
  void SetUp() override { Start(ca_.Serving()); }

  void Start(const tls::Identity& identity, const std::string& address = "127.0.0.1:0") {
    ASSERT_TRUE(tls::SaveIdentity(path_, identity).ok());
    auto credentials = ServerCredentialsFromFile(path_, absl::Seconds(1));
    ASSERT_TRUE(credentials.ok()) << credentials.status();
    grpc::ServerBuilder builder;
    ConfigureServer(builder);
    builder.AddListeningPort(address, *credentials, &port_);
    builder.RegisterService(&mirror_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  ~MutualTlsTest() override {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  }

  std::shared_ptr<grpc::Channel> Channel(const std::optional<tls::Identity>& identity,
                                         const std::string& host = "localhost",
                                         TestCa* trusted = nullptr) {
    auto channel = MakeChannel(
        {host, port_}, (trusted == nullptr ? ca_ : *trusted).authority().ca_pem(), identity);
    if (!channel.ok()) ADD_FAILURE() << channel.status();
    return *channel;
  }

  struct Answer {
    absl::Status status;
    v1::EnrolResponse response;
    std::string server_serial;
  };
  Answer Ask(const std::shared_ptr<grpc::Channel>& channel, const v1::EnrolRequest& request = {}) {
    Answer answer;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    answer.status = FromGrpc(
        v1::EnrolmentService::NewStub(channel)->Enrol(&context, request, &answer.response));
    if (context.auth_context() != nullptr) {
      auto server = PeerCertificate(*context.auth_context());
      if (server.ok() && server->has_value()) answer.server_serial = (*server)->serial;
    }
    return answer;
  }

  ScopedProxyVariables no_proxy_;
  TestDirectory directory_;
  std::string path_ = directory_.File("coordinator.pem");
  TestCa ca_;
  Mirror mirror_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(MutualTlsTest, NoClientCertificateIsSeenAsSuch) {
  Answer answer = Ask(Channel(std::nullopt));

  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.response.subject(), "none");
}

TEST_F(MutualTlsTest, ClientIsKnownByItsCertificate) {
  tls::Identity agent = ca_.Agent("a-1");

  Answer answer = Ask(Channel(agent));

  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.response.subject(), "assay://lab/agent/a-1");
  EXPECT_EQ(answer.response.agent_id(), tls::ReadCertificate(agent.chain_pem)->serial);
}

TEST_F(MutualTlsTest, ServerIsKnownByItsCertificate) {
  EXPECT_EQ(Ask(Channel(std::nullopt)).server_serial,
            tls::ReadCertificate(tls::LoadIdentity(path_)->chain_pem)->serial);
}

TEST_F(MutualTlsTest, ClientOfAnotherCaIsRefused) {
  TestCa other;
  tls::Identity foreign = other.Agent("a-1");
  Answer answer = Ask(Channel(foreign));
  EXPECT_EQ(answer.status.code(), absl::StatusCode::kUnavailable) << answer.status;
  EXPECT_EQ(answer.response.subject(), "");
}

// The chain that a client sends is not a reason to trust it.
TEST_F(MutualTlsTest, LeafOfAnotherCaWithOurCaBehindItIsRefused) {
  tls::Identity forged = TestCa().Agent("a-1");
  forged.chain_pem =
      forged.chain_pem.substr(0, forged.chain_pem.find("-----BEGIN", 1)) + ca_.authority().ca_pem();
  EXPECT_EQ(Ask(Channel(forged)).status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(MutualTlsTest, ExpiredClientIsRefused) {
  tls::Identity old = ca_.Agent("a-1", absl::Now() - absl::Hours(100), absl::Hours(1));
  EXPECT_EQ(Ask(Channel(old)).status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(MutualTlsTest, ServerOfAnotherCaIsRefused) {
  TestCa other;
  EXPECT_EQ(Ask(Channel(std::nullopt, "localhost", &other)).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(MutualTlsTest, ExpiredServerIsRefused) {
  server_->Shutdown();
  Start(ca_.Serving({"localhost"}, absl::Now() - absl::Hours(100), absl::Hours(1)));
  EXPECT_EQ(Ask(Channel(std::nullopt)).status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(MutualTlsTest, ServerOfAnotherNameIsRefused) {
  server_->Shutdown();
  Start(ca_.Serving({"hk.example", "127.0.0.1"}));
  EXPECT_EQ(Ask(Channel(std::nullopt, "localhost")).status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Ask(Channel(std::nullopt, "127.0.0.1")).status.ok());
}

// An agent that has been broken into must not be able to pose as the coordinator.
TEST_F(MutualTlsTest, AgentCannotServe) {
  server_->Shutdown();
  Start(ca_.Agent("localhost"));
  EXPECT_EQ(Ask(Channel(std::nullopt)).status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(MutualTlsTest, Ipv6AddressIsDialledAndChecked) {
  server_->Shutdown();
  Start(ca_.Serving(), "[::1]:0");
  EXPECT_EQ(Ask(Channel(ca_.Agent("a-6"), "::1")).response.subject(), "assay://lab/agent/a-6");
}

TEST_F(MutualTlsTest, NewConnectionsGetARotatedCertificateAndOldOnesLive) {
  auto old_channel = Channel(ca_.Agent("a-1"));
  std::string old_serial = Ask(old_channel).server_serial;
  tls::Identity renewed = ca_.Serving();
  std::string new_serial = tls::ReadCertificate(renewed.chain_pem)->serial;
  ASSERT_NE(old_serial, new_serial);

  ASSERT_TRUE(tls::SaveIdentity(path_, renewed).ok());

  std::string seen;
  for (absl::Time end = absl::Now() + absl::Seconds(60); absl::Now() < end && seen != new_serial;) {
    Answer answer = Ask(Channel(ca_.Agent("a-2")));
    ASSERT_TRUE(answer.status.ok()) << answer.status;
    seen = answer.server_serial;
    absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_EQ(seen, new_serial);
  Answer still = Ask(old_channel);
  EXPECT_TRUE(still.status.ok()) << still.status;
  EXPECT_EQ(still.server_serial, old_serial);
}

TEST_F(MutualTlsTest, RemovedFileKeepsTheLastCertificate) {
  std::filesystem::remove(path_);
  // The watcher has looked once it has taken up a replacement that came after the removal; until
  // then, and in between, everybody is served.
  tls::Identity renewed = ca_.Serving();
  std::string new_serial = tls::ReadCertificate(renewed.chain_pem)->serial;
  absl::Time restore = absl::Now() + absl::Seconds(2);
  bool restored = false;
  std::string seen;
  for (absl::Time end = absl::Now() + absl::Seconds(60); absl::Now() < end && seen != new_serial;) {
    if (!restored && absl::Now() > restore) {
      ASSERT_TRUE(tls::SaveIdentity(path_, renewed).ok());
      restored = true;
    }
    Answer answer = Ask(Channel(std::nullopt));
    ASSERT_TRUE(answer.status.ok()) << answer.status;
    seen = answer.server_serial;
    absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_EQ(seen, new_serial);
}

TEST_F(MutualTlsTest, MessageSurvivesTheWayBack) {
  v1::EnrolRequest request;
  request.set_token("run-7");

  absl::Status status = Ask(Channel(std::nullopt), request).status;

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Render(Language::kEnglish, status),
            "no run run-7; `assay run list` shows the ones there are");
  EXPECT_EQ(Render(Language::kChinese, status), "没有运行 run-7；可用 assay run list 查看现有运行");
}

TEST_F(MutualTlsTest, LongMessageStillFitsTheTrailers) {
  v1::EnrolRequest request;
  for (int i = 0; i < 20000; ++i) request.mutable_token()->append("长");

  absl::Status status = Ask(Channel(std::nullopt), request).status;

  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(Render(Language::kChinese, status), HasSubstr("没有运行 长长"));
}

TEST_F(MutualTlsTest, LargeMessagesPass) {
  v1::EnrolRequest request;
  request.set_csr_der(std::string(20 << 20, 'x'));

  Answer answer = Ask(Channel(std::nullopt), request);

  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.response.certificate_chain_pem(), std::to_string(20 << 20));
}

TEST_F(MutualTlsTest, PortInUseIsAnError) {
  grpc::ServerBuilder builder;
  ConfigureServer(builder);
  int port = 0;
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", port_),
                           *ServerCredentialsFromFile(path_, absl::Seconds(1)), &port);
  builder.RegisterService(&mirror_);
  EXPECT_EQ(builder.BuildAndStart(), nullptr);
  EXPECT_EQ(port, 0);
}

TEST_F(MutualTlsTest, BadIdentityFileIsToldBeforeServing) {
  tls::Identity identity = ca_.Serving();
  std::string path = assay::testing::WriteText(directory_.File("mixed.pem"),
                                               *tls::GenerateKey() + identity.chain_pem);

  auto credentials = ServerCredentialsFromFile(path);

  EXPECT_EQ(MessageOf(credentials.status())->id(), "identity.key_mismatch");
}

// ---- proxies

TEST_F(MutualTlsTest, ChannelGoesThroughTheProxyWithItsPassword) {
  ConnectProxy proxy("Proxy-Authorization: Basic dXNlcjpwQHNzOnc=\r\n");  // user:p@ss:w
  ScopedProxyVariables variables(
      {{"HTTPS_PROXY", absl::StrCat("http://user:p%40ss:w@127.0.0.1:", proxy.port())}});

  Answer answer = Ask(Channel(ca_.Agent("a-1"), "coordinator.test"));

  ASSERT_TRUE(answer.status.ok()) << answer.status << proxy.requests()[0];
  EXPECT_EQ(answer.response.subject(), "assay://lab/agent/a-1");
  ASSERT_FALSE(proxy.requests().empty());
  EXPECT_THAT(proxy.requests()[0], HasSubstr(absl::StrCat("CONNECT coordinator.test:", port_)));
}

TEST_F(MutualTlsTest, LoopbackNeverGoesThroughAProxy) {
  ConnectProxy proxy;
  ScopedProxyVariables variables(
      {{"https_proxy", absl::StrCat("http://127.0.0.1:", proxy.port())}});

  EXPECT_TRUE(Ask(Channel(std::nullopt, "localhost")).status.ok());

  EXPECT_TRUE(proxy.requests().empty());
}

TEST_F(MutualTlsTest, MalformedProxyIsAnErrorRatherThanIgnored) {
  ScopedProxyVariables variables({{"https_proxy", "socks5://127.0.0.1:1"}});
  EXPECT_EQ(
      MakeChannel({"coordinator.test", 1}, ca_.authority().ca_pem(), std::nullopt).status().code(),
      absl::StatusCode::kInvalidArgument);
}

// ---- Diagnose() against gRPC itself

std::string DiagnosisOf(const absl::Status& status) {
  if (status.ok()) return "ok";
  auto message = MessageOf(status);
  return message.has_value() ? message->id() : std::string(status.message());
}

TEST_F(MutualTlsTest, DiagnosisAgreesWithGrpc) {
  TestCa other;
  // Signed by our CA's namesake: the coordinator was set up anew, the agent kept its old identity
  // but learnt the new CA.
  tls::Identity foreign = other.Agent("a-1");
  foreign.ca_pem = ca_.authority().ca_pem();

  EXPECT_EQ(DiagnosisOf(tls::Diagnose({"localhost", port_}, ca_.Agent("a-1"), absl::Seconds(30))),
            "ok");
  EXPECT_EQ(DiagnosisOf(tls::Diagnose({"localhost", port_}, std::nullopt, absl::Seconds(30))),
            "ok");
  EXPECT_EQ(DiagnosisOf(tls::Diagnose({"localhost", port_}, foreign, absl::Seconds(30))),
            "identity.own_refused");
  EXPECT_EQ(DiagnosisOf(tls::Diagnose({"localhost", port_}, other.Agent("a-1"), absl::Seconds(30))),
            "identity.other_coordinator");
}

TEST_F(MutualTlsTest, CaIsFetchedFromGrpc) {
  EXPECT_EQ(
      *tls::FetchCa({"localhost", port_}, ca_.authority().ca_fingerprint(), absl::Seconds(30)),
      ca_.authority().ca_pem());
}

TEST(PeerTest, WithoutTlsThereIsNoIdentity) {
  Mirror mirror;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&mirror);
  auto server = builder.BuildAndStart();
  auto channel =
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  v1::EnrolResponse response;

  grpc::Status status = v1::EnrolmentService::NewStub(channel)->Enrol(&context, {}, &response);

  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  server->Shutdown();
}

}  // namespace
}  // namespace assay::rpc
