// The coordinator in one process, over real mutual TLS: who may do what, and an agent's session
// spoken by hand.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "absl/time/clock.h"
#include "assay/v1/agent.grpc.pb.h"
#include "assay/v1/control.grpc.pb.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/clock/clock.h"
#include "common/rpc/credentials.h"
#include "common/rpc/status.h"
#include "common/tls/dial.h"
#include "common/tls/identity.h"
#include "core/evidence/derive.h"
#include "server/app/init.h"
#include "server/app/serve.h"

namespace assay::app {
namespace {

using ::testing::HasSubstr;

constexpr auto kWait = std::chrono::seconds(30);

class CoordinatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path().string() + "/assay-app-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_TRUE(
        Initialise(folder_ + "/c", {"test", "127.0.0.1:7443", "127.0.0.1:0"}, "root", clock_).ok());
    Start();
    admin_ = tls::LoadIdentity(folder_ + "/c/admin/identity.pem").value();
  }
  void TearDown() override {
    coordinator_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start() {
    ServeOptions options;
    options.directory = folder_ + "/c";
    options.listen = "127.0.0.1:0";
    auto coordinator = Coordinator::Start(options, clock_);
    ASSERT_TRUE(coordinator.ok()) << coordinator.status();
    coordinator_ = *std::move(coordinator);
  }

  std::shared_ptr<grpc::Channel> ChannelAs(const std::optional<tls::Identity>& identity) {
    return rpc::MakeChannel(tls::ParseHostPort(coordinator_->listening_address()).value(),
                            admin_.ca_pem, identity)
        .value();
  }

  // Enrols somebody and returns their identity.
  tls::Identity Enrol(v1::SubjectKind kind, const std::string& name,
                      v1::Role role = v1::ROLE_UNSPECIFIED) {
    v1::CreateTokenRequest request;
    request.set_subject_kind(kind);
    request.set_subject(name);
    request.set_role(role);
    v1::CreateTokenResponse token;
    grpc::ClientContext context;
    EXPECT_TRUE(v1::ControlService::NewStub(ChannelAs(admin_))
                    ->CreateToken(&context, request, &token)
                    .ok());
    tls::Identity identity;
    identity.key_pem = tls::GenerateKey().value();
    v1::EnrolRequest enrol;
    enrol.set_token(token.token());
    enrol.set_csr_der(tls::MakeCsr(identity.key_pem).value());
    v1::EnrolResponse enrolled;
    grpc::ClientContext enrol_context;
    grpc::Status status = v1::EnrolmentService::NewStub(ChannelAs(std::nullopt))
                              ->Enrol(&enrol_context, enrol, &enrolled);
    EXPECT_TRUE(status.ok()) << status.error_message();
    identity.chain_pem = enrolled.certificate_chain_pem();
    identity.ca_pem = admin_.ca_pem;
    return identity;
  }

  // Plan "p": TCP tasks of the vantage, spread evenly over one window; the first is due within
  // length / repetitions.
  void ApplyPlan(int repetitions = 40, absl::Duration length = absl::Minutes(1)) {
    v1::ApplyRequest request;
    v1::Server& server = *request.add_documents()->mutable_server();
    server.set_name("hk");
    server.add_addresses("127.0.0.1");
    v1::Vantage& vantage = *request.add_documents()->mutable_vantage();
    vantage.set_name("sz");
    vantage.set_kind(v1::VANTAGE_KIND_OFFICE);
    v1::Plan& plan = *request.add_documents()->mutable_plan();
    plan.set_name("p");
    plan.add_servers("hk");
    plan.add_vantages("sz");
    v1::Window& window = *plan.add_windows();
    window.set_name("w");
    window.set_role(v1::WINDOW_ROLE_PEAK);
    *window.mutable_relative()->mutable_length() = ToProto(length);
    v1::Probe& probe = *plan.add_probes();
    probe.set_name("port");
    probe.mutable_tcp()->set_port(443);
    probe.mutable_tcp()->set_count(1);
    probe.set_repetitions(static_cast<uint32_t>(repetitions));
    v1::Criterion& criterion = *plan.add_criteria();
    criterion.set_id("fails");
    criterion.set_metric("tcp.failure_ratio");
    criterion.set_threshold("50%");
    v1::ApplyResponse response;
    grpc::ClientContext context;
    grpc::Status status =
        v1::ControlService::NewStub(ChannelAs(admin_))->Apply(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }

  std::string StartRun() {
    v1::StartRunRequest request;
    request.set_plan("p");
    v1::Run run;
    grpc::ClientContext context;
    grpc::Status status =
        v1::ControlService::NewStub(ChannelAs(admin_))->StartRun(&context, request, &run);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return run.id();
  }

  // Until the coordinator lists an agent as connected: it does so just after its Welcome.
  void WaitUntilConnected() {
    auto stub = v1::ControlService::NewStub(ChannelAs(admin_));
    for (absl::Time end = absl::Now() + absl::Seconds(30); absl::Now() < end;) {
      v1::ListAgentsResponse response;
      grpc::ClientContext context;
      ASSERT_TRUE(stub->ListAgents(&context, {}, &response).ok());
      for (const v1::AgentInfo& agent : response.agents()) {
        if (agent.state() == v1::AGENT_STATE_CONNECTED) return;
      }
      absl::SleepFor(absl::Milliseconds(5));
    }
    FAIL() << "no agent connected";
  }

  std::vector<v1::StoredResult> Results() {
    v1::ListResultsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(
        v1::ControlService::NewStub(ChannelAs(admin_))->ListResults(&context, {}, &response).ok());
    return {response.results().begin(), response.results().end()};
  }

  SystemClock clock_;
  std::string folder_;
  tls::Identity admin_;
  std::unique_ptr<Coordinator> coordinator_;
};

// An agent's session, one message at a time.
class HandSession {
 public:
  HandSession(const std::shared_ptr<grpc::Channel>& channel, const v1::Hello& hello)
      : stub_(v1::AgentService::NewStub(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + kWait);
    stream_ = stub_->Session(&context_);
    v1::AgentMessage message;
    *message.mutable_hello() = hello;
    stream_->Write(message);
  }
  ~HandSession() {
    context_.TryCancel();
    if (!finished_) Finish();
  }

  // The next message of this kind; other kinds are passed over. nullopt at the end of the stream.
  std::optional<v1::CoordinatorMessage> Next(v1::CoordinatorMessage::KindCase kind) {
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
      if (message.kind_case() == kind) return message;
    }
    return std::nullopt;
  }
  void Send(const v1::TaskRef& ref) {
    v1::Evidence evidence;
    v1::TcpEvidence& tcp = *evidence.mutable_tcp();
    tcp.set_address("127.0.0.1");
    tcp.add_start_offset_ns(0);
    tcp.add_outcomes(v1::CONNECT_OUTCOME_CONNECTED);
    tcp.add_connect_ns(1000000);
    tcp.add_syn_retransmits(0);
    tcp.add_connect_errno(0);
    v1::AgentMessage message;
    *message.mutable_result()->mutable_ref() = ref;
    v1::Result& result = *message.mutable_result()->mutable_result();
    result.set_outcome(v1::OUTCOME_OK);
    *result.mutable_started_at() = ToProto(absl::Now());
    result.set_evidence_zstd(evidence::Pack(evidence).value());
    stream_->Write(message);
  }
  grpc::Status Finish() {
    finished_ = true;
    v1::CoordinatorMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>> stream_;
  bool finished_ = false;
};

TEST_F(CoordinatorTest, WithoutACertificateOnlyEnrolmentPasses) {
  std::shared_ptr<grpc::Channel> channel = ChannelAs(std::nullopt);
  grpc::ClientContext who_context, watch_context, enrol_context;
  v1::WhoAmIResponse who;
  grpc::Status denied = v1::ControlService::NewStub(channel)->WhoAmI(&who_context, {}, &who);
  EXPECT_EQ(denied.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(denied.error_message(), HasSubstr("needs a certificate"));

  HandSession session(channel, {});
  EXPECT_EQ(session.Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);

  // Services that gRPC itself brings are behind the gate too.
  for (const char* method : {"/grpc.health.v1.Health/Check",
                             "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                             "/assay.v1.Nothing/AtAll"}) {
    grpc::ClientContext context;
    grpc::internal::RpcMethod rpc(method, grpc::internal::RpcMethod::NORMAL_RPC, channel);
    v1::GetRunRequest request;
    v1::Run response;
    grpc::Status status =
        grpc::internal::BlockingUnaryCall<v1::GetRunRequest, v1::Run, google::protobuf::MessageLite,
                                          google::protobuf::MessageLite>(
            channel.get(), rpc, &context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
  }

  v1::EnrolResponse enrolled;
  v1::EnrolRequest request;
  request.set_token("assay-nonsense");
  grpc::Status enrol =
      v1::EnrolmentService::NewStub(channel)->Enrol(&enrol_context, request, &enrolled);
  EXPECT_NE(enrol.error_code(), grpc::StatusCode::OK);
  EXPECT_THAT(enrol.error_message(), HasSubstr("token"));
}

TEST_F(CoordinatorTest, EveryCallNeedsItsRole) {
  struct Person {
    const char* name;
    v1::Role role;
  };
  for (const Person& person :
       {Person{"viewer", v1::ROLE_VIEWER}, Person{"operator", v1::ROLE_OPERATOR},
        Person{"admin2", v1::ROLE_ADMIN}}) {
    auto stub = v1::ControlService::NewStub(
        ChannelAs(Enrol(v1::SUBJECT_KIND_PERSON, person.name, person.role)));
    auto denied = [&](auto method, const auto& request, auto response) {
      grpc::ClientContext context;
      grpc::Status status = ((*stub).*method)(&context, request, &response);
      return status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
    };
    using Stub = v1::ControlService::Stub;
    v1::ApplyRequest dry;
    dry.set_dry_run(true);
    v1::CreateTokenRequest agent_token, person_token;
    agent_token.set_subject_kind(v1::SUBJECT_KIND_VANTAGE);
    agent_token.set_subject("x");
    person_token.set_subject_kind(v1::SUBJECT_KIND_PERSON);
    person_token.set_subject("y");
    person_token.set_role(v1::ROLE_VIEWER);
    bool operates = person.role >= v1::ROLE_OPERATOR;
    bool administers = person.role >= v1::ROLE_ADMIN;

    EXPECT_FALSE(denied(&Stub::WhoAmI, v1::WhoAmIRequest(), v1::WhoAmIResponse()));
    EXPECT_FALSE(denied(&Stub::ListAgents, v1::ListAgentsRequest(), v1::ListAgentsResponse()));
    EXPECT_FALSE(denied(&Stub::ListRuns, v1::ListRunsRequest(), v1::ListRunsResponse()));
    EXPECT_FALSE(denied(&Stub::GetVerdict, v1::GetVerdictRequest(), v1::Verdict()));
    EXPECT_FALSE(denied(&Stub::Apply, dry, v1::ApplyResponse()));
    EXPECT_EQ(denied(&Stub::Apply, v1::ApplyRequest(), v1::ApplyResponse()), !operates);
    EXPECT_EQ(denied(&Stub::StartRun, v1::StartRunRequest(), v1::Run()), !operates);
    EXPECT_EQ(denied(&Stub::CancelRun, v1::GetRunRequest(), v1::Run()), !operates);
    EXPECT_EQ(denied(&Stub::CreateToken, agent_token, v1::CreateTokenResponse()), !operates);
    EXPECT_EQ(denied(&Stub::CreateToken, person_token, v1::CreateTokenResponse()), !administers);
    EXPECT_EQ(denied(&Stub::Revoke, v1::RevokeRequest(), v1::RevokeResponse()), !administers);
  }
}

TEST_F(CoordinatorTest, AgentsAndPeopleDoNotStandInForEachOther) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  grpc::ClientContext context;
  v1::WhoAmIResponse who;
  EXPECT_EQ(v1::ControlService::NewStub(ChannelAs(agent))->WhoAmI(&context, {}, &who).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(HandSession(ChannelAs(admin_), {}).Finish().error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(CoordinatorTest, AResultIsAcknowledgedAfterItIsStoredAndStoredOnce) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  ApplyPlan();
  StartRun();
  HandSession session(ChannelAs(agent), {});
  ASSERT_TRUE(session.Next(v1::CoordinatorMessage::kWelcome).has_value());
  std::optional<v1::CoordinatorMessage> message = session.Next(v1::CoordinatorMessage::kAssignment);
  ASSERT_TRUE(message.has_value());
  v1::TaskRef ref = message->assignment().ref();
  EXPECT_EQ(message->assignment().probe().name(), "port");

  for (int i = 0; i < 2; ++i) {
    session.Send(ref);
    std::optional<v1::CoordinatorMessage> ack = session.Next(v1::CoordinatorMessage::kAck);
    ASSERT_TRUE(ack.has_value());
    EXPECT_EQ(ack->ack().ref().SerializeAsString(), ref.SerializeAsString());
    ASSERT_EQ(Results().size(), 1u);
  }
  EXPECT_EQ(Results()[0].metrics_size() > 0, true);
}

TEST_F(CoordinatorTest, AnAgentCannotAnswerForAnother) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  tls::Identity stranger = Enrol(v1::SUBJECT_KIND_VANTAGE, "elsewhere");
  ApplyPlan();
  std::string run = StartRun();
  HandSession session(ChannelAs(stranger), {});
  v1::TaskRef ref;
  ref.set_run(run);
  ref.set_attempt(1);

  session.Send(ref);

  ASSERT_TRUE(session.Next(v1::CoordinatorMessage::kAck).has_value());
  EXPECT_TRUE(Results().empty());
}

TEST_F(CoordinatorTest, EvidenceThatCannotBeReadDecidesNothing) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  ApplyPlan();
  StartRun();
  auto stub = v1::AgentService::NewStub(ChannelAs(agent));
  grpc::ClientContext context;
  auto stream = stub->Session(&context);
  v1::AgentMessage message;
  message.mutable_hello();
  stream->Write(message);
  v1::CoordinatorMessage answer;
  while (stream->Read(&answer) && !answer.has_assignment()) {
  }
  *message.mutable_result()->mutable_ref() = answer.assignment().ref();
  message.mutable_result()->mutable_result()->set_outcome(v1::OUTCOME_OK);
  message.mutable_result()->mutable_result()->set_evidence_zstd("not zstd at all");
  stream->Write(message);
  while (stream->Read(&answer) && !answer.has_ack()) {
  }

  ASSERT_EQ(Results().size(), 1u);
  EXPECT_EQ(Results()[0].result().outcome(), v1::OUTCOME_FAILED);
  EXPECT_EQ(Results()[0].result().reason().id(), "server.evidence_unreadable");
  context.TryCancel();
  stream->Finish();
}

TEST_F(CoordinatorTest, ALeaseSurvivesARestartOfTheCoordinator) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  ApplyPlan();
  StartRun();
  v1::TaskRef ref;
  {
    HandSession session(ChannelAs(agent), {});
    ref = session.Next(v1::CoordinatorMessage::kAssignment).value().assignment().ref();
  }
  coordinator_.reset();
  Start();

  v1::Hello hello;
  *hello.add_spooled() = ref;
  HandSession session(ChannelAs(agent), hello);
  session.Send(ref);

  EXPECT_TRUE(session.Next(v1::CoordinatorMessage::kAck).has_value());
  ASSERT_EQ(Results().size(), 1u);
  EXPECT_EQ(Results()[0].ref().attempt(), 1u);
}

TEST_F(CoordinatorTest, ATaskLostWithItsAgentIsGivenOutAgain) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  ApplyPlan();
  StartRun();
  {
    HandSession session(ChannelAs(agent), {});
    ASSERT_TRUE(session.Next(v1::CoordinatorMessage::kAssignment).has_value());
  }

  HandSession again(ChannelAs(agent), {});

  EXPECT_EQ(again.Next(v1::CoordinatorMessage::kAssignment).value().assignment().ref().attempt(),
            2u);
}

TEST_F(CoordinatorTest, RevocationEndsALiveSessionAndEveryLaterOne) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  HandSession session(ChannelAs(agent), {});
  ASSERT_TRUE(session.Next(v1::CoordinatorMessage::kWelcome).has_value());
  v1::RevokeRequest request;
  request.set_subject_kind(v1::SUBJECT_KIND_VANTAGE);
  request.set_subject("sz");
  request.set_reason("lost");
  v1::RevokeResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(
      v1::ControlService::NewStub(ChannelAs(admin_))->Revoke(&context, request, &response).ok());

  grpc::Status status = session.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(MessageOf(rpc::FromGrpc(status)).value().id(), "identity.certificate_revoked");
  EXPECT_EQ(HandSession(ChannelAs(agent), {}).Finish().error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(CoordinatorTest, AnAgentRenewsItsCertificateAndBothWork) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  tls::Identity renewed;
  renewed.key_pem = tls::GenerateKey().value();
  v1::RenewRequest request;
  request.set_csr_der(tls::MakeCsr(renewed.key_pem).value());
  v1::RenewResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(
      v1::AgentService::NewStub(ChannelAs(agent))->Renew(&context, request, &response).ok());
  renewed.chain_pem = response.certificate_chain_pem();
  renewed.ca_pem = admin_.ca_pem;

  for (const tls::Identity& identity : {agent, renewed}) {
    HandSession session(ChannelAs(identity), {});
    EXPECT_TRUE(session.Next(v1::CoordinatorMessage::kWelcome).has_value());
  }
}

TEST_F(CoordinatorTest, ANewAgentOfTheSamePlaceTakesOver) {
  tls::Identity old_agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  HandSession live(ChannelAs(old_agent), {});
  ASSERT_TRUE(live.Next(v1::CoordinatorMessage::kWelcome).has_value());

  Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");

  EXPECT_EQ(live.Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(HandSession(ChannelAs(old_agent), {}).Finish().error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(CoordinatorTest, WatchingARunShowsItsEnd) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  ApplyPlan(1, absl::Seconds(3));
  v1::GetRunRequest request;
  request.set_run(StartRun());
  HandSession session(ChannelAs(agent), {});
  v1::TaskRef ref = session.Next(v1::CoordinatorMessage::kAssignment).value().assignment().ref();
  auto stub = v1::ControlService::NewStub(ChannelAs(admin_));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kWait);
  auto stream = stub->WatchRun(&context, request);
  v1::RunProgress progress;
  ASSERT_TRUE(stream->Read(&progress));
  EXPECT_EQ(progress.run().state(), v1::RUN_STATE_ACTIVE);

  session.Send(ref);
  int ended = 0;
  v1::RunProgress last;
  while (stream->Read(&progress)) {
    ended += progress.ended_size();
    last = progress;
  }

  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(last.run().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(last.run().counts().done(), 1u);
  EXPECT_EQ(ended, 1);
}

TEST_F(CoordinatorTest, ACancelledRunTellsItsAgents) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  ApplyPlan();
  v1::GetRunRequest request;
  request.set_run(StartRun());
  HandSession session(ChannelAs(agent), {});
  ASSERT_TRUE(session.Next(v1::CoordinatorMessage::kAssignment).has_value());
  v1::Run run;
  grpc::ClientContext context;
  ASSERT_TRUE(
      v1::ControlService::NewStub(ChannelAs(admin_))->CancelRun(&context, request, &run).ok());

  EXPECT_EQ(run.state(), v1::RUN_STATE_CANCELLED);
  EXPECT_TRUE(session.Next(v1::CoordinatorMessage::kCancel).has_value());
}

TEST_F(CoordinatorTest, StoppingDrainsTheAgents) {
  tls::Identity agent = Enrol(v1::SUBJECT_KIND_VANTAGE, "sz");
  HandSession session(ChannelAs(agent), {});
  WaitUntilConnected();

  coordinator_->Stop();

  EXPECT_TRUE(session.Next(v1::CoordinatorMessage::kDrain).has_value());
  EXPECT_EQ(session.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace assay::app
