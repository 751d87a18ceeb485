// The driver on real streams, against a coordinator that misbehaves.
#include "agent/session/driver.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <thread>

#include "agent/spool/spool.h"
#include "common/base/message.h"
#include "common/rpc/credentials.h"
#include "tests/agent/session/core_harness.h"
#include "tests/agent/session/fake_coordinator.h"
#include "tests/common/tls/test_pki.h"

namespace assay::session {
namespace {

using ::assay::testing::Diary;
using ::assay::testing::FakeCoordinator;
using ::assay::testing::FakeSession;
using ::assay::testing::Measured;
using ::assay::testing::TestCa;
using ::assay::testing::TestDirectory;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// "icmp" that does what the test says.
class FakeProbe : public agent::Probe {
 public:
  using Body = std::function<v1::Result(const agent::ProbeRequest&, const agent::ProbeControl&)>;
  explicit FakeProbe(Body body) : body_(std::move(body)) {}
  absl::string_view kind() const override { return "icmp"; }
  v1::Capability Supported() const override {
    v1::Capability capability;
    capability.set_supported(true);
    return capability;
  }
  v1::Result Run(const agent::ProbeRequest& request, const agent::ProbeControl& control) override {
    return body_(request, control);
  }

 private:
  const Body body_;
};

v1::Result Quick(const agent::ProbeRequest&, const agent::ProbeControl&) { return Measured("ok"); }

void WaitFor(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() { spdlog::set_level(spdlog::level::off); }

  // Stops the agent at the end of its scope: before what its threads use is gone.
  struct [[nodiscard]] Stopper {
    DriverTest* test;
    ~Stopper() { test->StopAgent().IgnoreError(); }
  };

  Stopper StartAgent(FakeCoordinator& coordinator, FakeProbe::Body probe = Quick,
                     std::function<void(DriverOptions&)> change = nullptr) {
    auto spool = spool::OpenSpool(state_.File("spool"), state_.File("corrupt"));
    EXPECT_TRUE(spool.ok()) << spool.status();
    spool_ = *std::move(spool);
    auto probes = std::make_shared<ProbeSet>();
    probes->push_back(std::make_unique<FakeProbe>(std::move(probe)));
    DriverOptions options;
    options.dial =
        [&coordinator](
            const std::optional<tls::Identity>&) -> absl::StatusOr<std::shared_ptr<grpc::Channel>> {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", coordinator.port()),
                                       grpc::InsecureChannelCredentials(), arguments);
    };
    options.probes = probes;
    options.guard = guard::AllowAll();
    options.spool = spool_.get();
    options.clock = &clock_;
    options.version = "1";
    if (change) change(options);
    driver_ = std::make_unique<Driver>(std::move(options));
    thread_ = std::thread([this] { ended_ = driver_->Run(); });
    return {this};
  }

  // What Run() returned.
  absl::Status AwaitAgent() {
    if (thread_.joinable()) thread_.join();
    return ended_;
  }
  absl::Status StopAgent() {
    if (driver_ == nullptr) return absl::OkStatus();
    driver_->Stop();
    absl::Status ended = AwaitAgent();
    left_threads_ = driver_->left_threads();
    driver_.reset();
    return ended;
  }

  TestDirectory state_;
  SystemClock clock_;
  std::unique_ptr<spool::Spool> spool_;
  std::unique_ptr<Driver> driver_;
  std::thread thread_;
  absl::Status ended_;
  bool left_threads_ = false;
};

TEST_F(DriverTest, MeasuresDeliversAndStops) {
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    for (uint32_t task = 1; task <= 20; ++task) session.Assign(task);
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator);
  for (int task = 1; task <= 20; ++task) {
    coordinator.diary().Await(absl::StrCat("result ", task, " ok"));
  }
  coordinator.diary().Await("heartbeat", 3);
  EXPECT_TRUE(StopAgent().ok());
  EXPECT_FALSE(left_threads_);
  coordinator.diary().Await("half-close");
  // The last acknowledgement may have been overtaken by the end, no more.
  EXPECT_LE(spool_->List().size(), 20u);
  EXPECT_EQ(coordinator.diary().Count("hello"), 1);
}

TEST_F(DriverTest, WhatWasNotAcknowledgedComesAgain) {
  FakeCoordinator coordinator([](int number, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    if (number == 0) {
      session.Assign(1);
      session.Serve({.acknowledge = false, .results = 1});
      return absl::UnavailableError("dropped");
    }
    EXPECT_THAT(session.hello().spooled(), SizeIs(1));
    EXPECT_TRUE(session.hello().has_clock());
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator);
  coordinator.diary().Await("result 1 ok", 2);
  coordinator.diary().Await("heartbeat", 3);  // the acknowledgement went before their replies
  EXPECT_TRUE(StopAgent().ok());
  EXPECT_THAT(spool_->List(), IsEmpty());
}

TEST_F(DriverTest, ResultsOutliveTheProcess) {
  {
    FakeCoordinator coordinator([](int, FakeSession& session) {
      if (!session.Welcome()) return absl::OkStatus();
      session.Assign(1);
      session.Serve({.acknowledge = false});
      return absl::OkStatus();
    });
    coordinator.Start();
    auto agent = StartAgent(coordinator);
    coordinator.diary().Await("result 1 ok");
  }
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (session.Welcome()) session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator);
  coordinator.diary().Await("result 1 ok");
}

TEST_F(DriverTest, ASilentCoordinatorIsLeft) {
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (session.Welcome()) session.Serve({.answer_heartbeats = false});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator);
  coordinator.diary().Await("hello", 3);
}

TEST_F(DriverTest, MessagesInAnyOrderDoNoHarm) {
  FakeCoordinator coordinator([](int, FakeSession& session) {
    v1::CoordinatorMessage message;
    message.mutable_drain();
    session.Write(message);
    session.Assign(1);  // before the welcome: not listened to
    session.Write({});
    if (!session.Welcome()) return absl::OkStatus();
    message.mutable_welcome();
    session.Write(message);
    message.mutable_ack();
    session.Write(message);
    message.mutable_cancel()->mutable_ref()->set_run("../../x");
    session.Write(message);
    message.mutable_heartbeat_reply();
    session.Write(message);
    message.mutable_assignment();
    session.Write(message);
    session.Assign(2);
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator);
  coordinator.diary().Await("result 2 ok");
  EXPECT_EQ(coordinator.diary().Count("result 1 ok"), 0);
  EXPECT_EQ(coordinator.diary().Count("hello"), 1);
}

TEST_F(DriverTest, DrainComesBackAndTheProbeGoesOn) {
  std::atomic<bool> go = false;
  FakeCoordinator coordinator([&go](int number, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    if (number == 0) {
      session.Assign(1);
      v1::CoordinatorMessage drain;
      *drain.mutable_drain()->mutable_reconnect_after() = ToProto(absl::Milliseconds(50));
      session.Write(drain);
      session.Serve({});
      return absl::UnavailableError("stopping");
    }
    EXPECT_THAT(session.hello().running(), SizeIs(1));
    go = true;
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator,
                          [&go](const agent::ProbeRequest&, const agent::ProbeControl& control) {
                            WaitFor(go);
                            return Measured(*control.cancelled ? "cancelled" : "ok");
                          });
  coordinator.diary().Await("result 1 ok");
  EXPECT_EQ(coordinator.diary().Count("half-close"), 1);  // of the first session, in good order
}

TEST_F(DriverTest, ARevokedAgentEndsWithTheReason) {
  FakeCoordinator coordinator([](int, FakeSession& session) {
    session.Welcome();
    return Error(absl::StatusCode::kUnauthenticated, "identity.certificate_revoked",
                 {{"subject", "sz"}, {"reason", "laptop lost"}});
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator);
  absl::Status ended = AwaitAgent();
  EXPECT_TRUE(absl::IsUnauthenticated(ended));
  EXPECT_EQ(MessageOf(ended)->id(), "identity.certificate_revoked");
}

TEST_F(DriverTest, ACancelledProbeIsStoppedAndNotHeardOf) {
  Diary probe_diary;
  FakeCoordinator coordinator([&probe_diary](int, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    session.Assign(1);
    probe_diary.Await("begun");
    v1::CoordinatorMessage cancel;
    cancel.mutable_cancel()->mutable_ref()->set_run("run");
    cancel.mutable_cancel()->mutable_ref()->set_task(1);
    cancel.mutable_cancel()->mutable_ref()->set_attempt(1);
    session.Write(cancel);
    probe_diary.Await("ended");
    session.Assign(2);
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  std::atomic<int> runs = 0;
  auto agent =
      StartAgent(coordinator, [&](const agent::ProbeRequest&, const agent::ProbeControl& control) {
        if (++runs > 1) return Measured("ok");
        probe_diary.Note("begun");
        WaitFor(*control.cancelled);
        probe_diary.Note("ended");
        return Measured("cut");
      });
  coordinator.diary().Await("result 2 ok");
  coordinator.diary().Await("heartbeat", 2);
  EXPECT_EQ(coordinator.diary().Count("result 1 cut"), 0);
}

TEST_F(DriverTest, AProbeThatThrowsIsAFailedResult) {
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    session.Assign(1);
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(coordinator,
                          [](const agent::ProbeRequest&, const agent::ProbeControl&) -> v1::Result {
                            throw std::runtime_error("boom");
                          });
  coordinator.diary().Await("result 1 agent.broken");
}

TEST_F(DriverTest, ProgressIsPassedOn) {
  std::atomic<bool> go = false;
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    session.Assign(1);
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent =
      StartAgent(coordinator, [&](const agent::ProbeRequest&, const agent::ProbeControl& control) {
        control.progress(0.5);
        WaitFor(go);
        return Measured("ok");
      });
  coordinator.diary().Await("progress");
  go = true;
  coordinator.diary().Await("result 1 ok");
}

TEST_F(DriverTest, ACoordinatorThatIsAwayIsWaitedFor) {
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (session.Welcome()) session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  int port = coordinator.port();
  coordinator.Stop();
  Diary diagnoses;
  auto agent = StartAgent(coordinator, Quick, [&](DriverOptions& options) {
    options.diagnose = [&diagnoses](const std::optional<tls::Identity>&) {
      diagnoses.Note("asked");
      return absl::OkStatus();
    };
  });
  diagnoses.Await("asked", 2);
  coordinator.Start(port);
  coordinator.diary().Await("hello");
  // Back on the same port after a crash.
  coordinator.Stop();
  coordinator.Start(port);
  coordinator.diary().Await("hello", 2);
}

TEST_F(DriverTest, StopsThoughAProbeHangs) {
  auto release = std::make_shared<std::atomic<bool>>(false);
  auto over = std::make_shared<std::atomic<bool>>(false);
  Diary probe_diary;
  FakeCoordinator coordinator([](int, FakeSession& session) {
    if (!session.Welcome()) return absl::OkStatus();
    session.Assign(1);
    session.Serve({});
    return absl::OkStatus();
  });
  coordinator.Start();
  auto agent = StartAgent(
      coordinator, [&, release, over](const agent::ProbeRequest&, const agent::ProbeControl&) {
        probe_diary.Note("begun");
        WaitFor(*release);
        *over = true;
        return Measured("late");
      });
  probe_diary.Await("begun");
  EXPECT_TRUE(StopAgent().ok());
  EXPECT_TRUE(left_threads_);
  EXPECT_THAT(spool_->List(), IsEmpty());
  *release = true;
  WaitFor(*over);
}

TEST_F(DriverTest, RenewsItsCertificateAndUsesTheNewOne) {
  TestCa ca;
  tls::Identity serving = ca.Serving();
  ASSERT_TRUE(tls::SaveIdentity(state_.File("serving.pem"), serving).ok());
  // A certificate for a minute, of which fifty seconds are over.
  absl::Time obtained = absl::Now() - absl::Seconds(50);
  tls::Identity identity = ca.Agent("agent-1", obtained, absl::Minutes(1));
  ASSERT_TRUE(tls::SaveIdentity(state_.File("identity.pem"), identity).ok());
  std::string old_serial = tls::ReadCertificate(identity.chain_pem)->serial;

  std::atomic<int> refusals = 1;
  FakeCoordinator coordinator(
      [](int, FakeSession& session) {
        if (!session.Welcome()) return absl::OkStatus();
        if (session.hello().spooled_size() == 0) session.Assign(1);
        session.Serve({.acknowledge = false});
        return absl::OkStatus();
      },
      [&](const std::string& csr) -> absl::StatusOr<std::string> {
        if (refusals-- > 0) return absl::UnavailableError("not now");
        store::Subject subject = {v1::SUBJECT_KIND_VANTAGE, "sz-office", v1::ROLE_UNSPECIFIED};
        auto issued = ca.authority().Issue(csr, subject, "agent-1", absl::Now(), absl::Hours(1));
        if (!issued.ok()) return issued.status();
        return issued->chain_pem;
      });
  auto credentials = rpc::ServerCredentialsFromFile(state_.File("serving.pem"));
  ASSERT_TRUE(credentials.ok()) << credentials.status();
  coordinator.Start(0, *credentials);
  auto agent = StartAgent(coordinator, Quick, [&](DriverOptions& options) {
    options.dial = [&coordinator](const std::optional<tls::Identity>& now) {
      return rpc::MakeChannel({"127.0.0.1", coordinator.port()}, now->ca_pem, now);
    };
    options.identity = identity;
    options.identity_path = state_.File("identity.pem");
    options.identity_obtained = obtained;
  });

  coordinator.diary().Await("certificate " + old_serial);
  coordinator.diary().Await("renewed");
  coordinator.diary().Await("hello", 2);
  auto renewed = tls::LoadIdentity(state_.File("identity.pem"));
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_NE(renewed->key_pem, identity.key_pem);
  coordinator.diary().Await("certificate " + tls::ReadCertificate(renewed->chain_pem)->serial);
  // Nothing was lost on the way: what was not acknowledged came again.
  coordinator.diary().Await("result 1 ok", 2);
  EXPECT_EQ(coordinator.diary().Count("renewed"), 1);
}

}  // namespace
}  // namespace assay::session
