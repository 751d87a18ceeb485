// A session core with a clock to turn and a coordinator to play.
#ifndef ASSAY_TESTS_AGENT_SESSION_CORE_HARNESS_H_
#define ASSAY_TESTS_AGENT_SESSION_CORE_HARNESS_H_

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/guard/guard.h"
#include "agent/session/session_core.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "tests/agent/session/memory_spool.h"

namespace assay::testing {

using session::Action;
using spool::TaskKey;

// Refuses the host "forbidden" and the probe "http".
class PickyGuard : public guard::Guard {
 public:
  absl::Status CheckHost(absl::string_view host,
                         const std::vector<std::string>& servers) const override {
    asked = servers;
    if (host != "forbidden") return absl::OkStatus();
    return Error(absl::StatusCode::kPermissionDenied, "guard.not_a_server",
                 {{"host", std::string(host)}});
  }
  absl::Status CheckAddress(absl::string_view, absl::string_view) const override {
    return absl::OkStatus();
  }
  absl::Status CheckProbe(absl::string_view kind) const override {
    if (kind != "http") return absl::OkStatus();
    return absl::PermissionDeniedError("no http here");
  }
  mutable std::vector<std::string> asked;
};

inline TaskKey Key(uint32_t task, uint32_t attempt = 1) { return {"run-1", task, attempt}; }

inline v1::CoordinatorMessage WelcomeMessage(absl::Time time, absl::Duration interval) {
  v1::CoordinatorMessage message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_coordinator("lab");
  *welcome.mutable_time() = ToProto(time);
  *welcome.mutable_heartbeat_interval() = ToProto(interval);
  return message;
}

inline v1::CoordinatorMessage AssignmentMessage(const TaskKey& key,
                                                const std::string& target = "192.0.2.1") {
  v1::CoordinatorMessage message;
  v1::Assignment& assignment = *message.mutable_assignment();
  *assignment.mutable_ref() = key.ToRef();
  assignment.add_server_addresses("192.0.2.1");
  assignment.mutable_probe()->set_name("echo");
  assignment.mutable_probe()->mutable_icmp()->set_target(target);
  *assignment.mutable_start_within() = ToProto(absl::Seconds(60));
  *assignment.mutable_time_limit() = ToProto(absl::Seconds(30));
  return message;
}

inline v1::CoordinatorMessage AckMessage(const TaskKey& key) {
  v1::CoordinatorMessage message;
  *message.mutable_ack()->mutable_ref() = key.ToRef();
  return message;
}

inline v1::CoordinatorMessage CancelMessage(const TaskKey& key) {
  v1::CoordinatorMessage message;
  *message.mutable_cancel()->mutable_ref() = key.ToRef();
  return message;
}

inline v1::Result Measured(const std::string& evidence = "evidence") {
  v1::Result result;
  result.set_outcome(v1::OUTCOME_OK);
  result.set_evidence_zstd(evidence);
  return result;
}

class CoreTest : public ::testing::Test {
 protected:
  CoreTest() {
    spdlog::set_level(spdlog::level::off);
    Make();
  }

  void Make(int max_parallel = 2) {
    session::SessionOptions options;
    options.tasks.guard = &guard_;
    options.tasks.spool = &spool_;
    options.tasks.max_parallel = max_parallel;
    options.tasks.version = "1.2.3";
    options.hostname = "host";
    options.os = "Linux";
    options.capabilities = [this] { return capabilities_; };
    options.random = [this] { return random_; };
    core_ = std::make_unique<session::SessionCore>(std::move(options));
  }

  session::Moment Now() const { return {wall_, steady_}; }
  void Pass(absl::Duration time) {
    wall_ += time;
    steady_ += time;
    core_->Tick(Now());
    Collect();
  }

  void Collect() {
    for (Action& action : core_->TakeActions()) actions_.push_back(std::move(action));
  }
  template <typename Kind>
  std::vector<Kind> TakeActions() {
    Collect();
    std::vector<Kind> taken;
    std::vector<Action> rest;
    for (Action& action : actions_) {
      if (auto* one = std::get_if<Kind>(&action); one != nullptr) {
        taken.push_back(std::move(*one));
      } else {
        rest.push_back(std::move(action));
      }
    }
    actions_ = std::move(rest);
    return taken;
  }

  // The next message, written at once.
  std::optional<v1::AgentMessage> Read() {
    auto message = core_->NextMessage(Now());
    if (message.has_value()) core_->OnWritten();
    return message;
  }
  std::vector<v1::AgentMessage> ReadAll() {
    std::vector<v1::AgentMessage> messages;
    while (auto message = Read()) messages.push_back(*message);
    return messages;
  }
  std::vector<TaskKey> SentResults() {
    std::vector<TaskKey> keys;
    for (const v1::AgentMessage& message : ReadAll()) {
      if (message.has_result()) keys.push_back(TaskKey::Of(message.result().ref()));
    }
    return keys;
  }
  void Send(const v1::CoordinatorMessage& message) {
    core_->OnMessage(message, Now());
    Collect();
  }

  // Start to Welcome, the first heartbeat read; returns the Hello.
  v1::Hello Connect() {
    core_->Start(Now());
    return Welcomed();
  }
  v1::Hello Welcomed() {
    EXPECT_EQ(TakeActions<session::OpenStream>().size(), 1u);
    auto hello = Read();
    EXPECT_TRUE(hello.has_value() && hello->has_hello());
    Send(WelcomeMessage(wall_ - offset_, absl::Seconds(10)));
    return hello.has_value() ? hello->hello() : v1::Hello();
  }
  void EndStream(const absl::Status& status = absl::UnavailableError("gone")) {
    core_->OnStreamEnded(status, Now());
    Collect();
  }
  void Reconnect() {
    EndStream();
    Pass(absl::Seconds(30));
  }
  v1::Result Kept(const TaskKey& key) { return spool_.Get(key)->result(); }

  std::vector<v1::Capability> capabilities_ = [] {
    std::vector<v1::Capability> list(3);
    list[0].set_probe("icmp");
    list[0].set_supported(true);
    list[1].set_probe("tcp");
    list[1].mutable_reason()->set_id("probe.some_reason");
    list[2].set_probe("http");
    list[2].set_supported(true);
    return list;
  }();
  PickyGuard guard_;
  MemorySpool spool_;
  std::unique_ptr<session::SessionCore> core_;
  absl::Time wall_ = absl::FromUnixSeconds(1796000000);
  absl::Duration steady_ = absl::Seconds(1000);
  absl::Duration offset_ = absl::Hours(1);  // this host's clock is fast
  double random_ = 0.5;
  std::vector<Action> actions_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_SESSION_CORE_HARNESS_H_
