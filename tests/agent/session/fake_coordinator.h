// A coordinator for tests of the driver that does what each test tells it, badly if asked to.
#ifndef ASSAY_TESTS_AGENT_SESSION_FAKE_COORDINATOR_H_
#define ASSAY_TESTS_AGENT_SESSION_FAKE_COORDINATOR_H_

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "assay/v1/agent.grpc.pb.h"
#include "common/base/proto_time.h"
#include "common/rpc/peer.h"
#include "common/rpc/status.h"

namespace assay::testing {

// Facts that threads add and the test waits for.
class Diary {
 public:
  void Note(const std::string& fact) {
    std::lock_guard<std::mutex> lock(mutex_);
    facts_.push_back(fact);
    changed_.notify_all();
  }
  // Until `fact` has been noted `times` times; a test failure after half a minute.
  void Await(const std::string& fact, int times = 1) {
    std::unique_lock<std::mutex> lock(mutex_);
    bool came = changed_.wait_for(lock, std::chrono::seconds(30),
                                  [&] { return CountLocked(fact) >= times; });
    if (!came) ADD_FAILURE() << "never: " << fact << " x" << times;
  }
  int Count(const std::string& fact) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return CountLocked(fact);
  }

 private:
  int CountLocked(const std::string& fact) const {
    return static_cast<int>(std::count(facts_.begin(), facts_.end(), fact));
  }
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> facts_;
};

// One session, from the coordinator's side. Notes "hello", "heartbeat", "result N", "half-close".
class FakeSession {
 public:
  FakeSession(grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>* stream,
              Diary* diary)
      : stream_(stream), diary_(diary) {}

  bool Write(const v1::CoordinatorMessage& message) { return stream_->Write(message); }
  bool Welcome(absl::Duration interval = absl::Milliseconds(200)) {
    v1::AgentMessage hello;
    if (!stream_->Read(&hello) || !hello.has_hello()) return false;
    hello_ = hello.hello();
    diary_->Note("hello");
    v1::CoordinatorMessage message;
    message.mutable_welcome()->set_coordinator("fake");
    *message.mutable_welcome()->mutable_time() = ToProto(absl::Now());
    *message.mutable_welcome()->mutable_heartbeat_interval() = ToProto(interval);
    return Write(message);
  }
  const v1::Hello& hello() const { return hello_; }

  void Assign(uint32_t task, absl::Duration time_limit = absl::Seconds(60)) {
    v1::CoordinatorMessage message;
    v1::Assignment& assignment = *message.mutable_assignment();
    assignment.mutable_ref()->set_run("run");
    assignment.mutable_ref()->set_task(task);
    assignment.mutable_ref()->set_attempt(1);
    assignment.add_server_addresses("192.0.2.1");
    assignment.mutable_probe()->mutable_icmp()->set_target("192.0.2.1");
    *assignment.mutable_time_limit() = ToProto(time_limit);
    Write(message);
  }

  struct Manners {
    bool answer_heartbeats = true;
    bool acknowledge = true;
    int results = 1 << 20;  // ends after so many
  };
  // Reads until the agent closes, or as the manners say; how many results came.
  int Serve(const Manners& manners) {
    int results = 0;
    v1::AgentMessage message;
    while (results < manners.results) {
      if (!stream_->Read(&message)) {
        diary_->Note("half-close");
        break;
      }
      v1::CoordinatorMessage answer;
      if (message.has_heartbeat()) {
        diary_->Note("heartbeat");
        if (!manners.answer_heartbeats) continue;
        v1::HeartbeatReply& reply = *answer.mutable_heartbeat_reply();
        *reply.mutable_sent_at() = message.heartbeat().sent_at();
        *reply.mutable_received_at() = *reply.mutable_replied_at() = ToProto(absl::Now());
        Write(answer);
      } else if (message.has_progress()) {
        diary_->Note("progress");
      } else if (message.has_result()) {
        ++results;
        if (manners.acknowledge) {
          *answer.mutable_ack()->mutable_ref() = message.result().ref();
          Write(answer);
        }
        diary_->Note(absl::StrCat("result ", message.result().ref().task(), " ",
                                  message.result().result().evidence_zstd(),
                                  message.result().result().reason().id()));
      }
    }
    return results;
  }

 private:
  grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>* const stream_;
  Diary* const diary_;
  v1::Hello hello_;
};

class FakeCoordinator : public v1::AgentService::Service {
 public:
  // What to do with the session of that number, from 0; its status ends the stream.
  using Script = std::function<absl::Status(int number, FakeSession& session)>;
  using Issue = std::function<absl::StatusOr<std::string>(const std::string& csr_der)>;

  explicit FakeCoordinator(Script script, Issue issue = nullptr)
      : script_(std::move(script)), issue_(std::move(issue)) {}
  ~FakeCoordinator() override { Stop(); }

  // On `port`, or a free one.
  void Start(int port = 0, std::shared_ptr<grpc::ServerCredentials> credentials =
                               grpc::InsecureServerCredentials()) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), credentials, &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }
  int port() const { return port_; }
  Diary& diary() { return diary_; }

  grpc::Status Session(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>* stream) override {
    int number;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      number = sessions_++;
    }
    auto peer = rpc::PeerCertificate(*context->auth_context());
    if (peer.ok() && peer->has_value()) diary_.Note("certificate " + (*peer)->serial);
    FakeSession session(stream, &diary_);
    return rpc::ToGrpc(script_(number, session));
  }

  grpc::Status Renew(grpc::ServerContext*, const v1::RenewRequest* request,
                     v1::RenewResponse* response) override {
    absl::StatusOr<std::string> chain = issue_(request->csr_der());
    if (!chain.ok()) return rpc::ToGrpc(chain.status());
    response->set_certificate_chain_pem(*chain);
    diary_.Note("renewed");
    return grpc::Status::OK;
  }

 private:
  const Script script_;
  const Issue issue_;
  Diary diary_;
  std::mutex mutex_;
  int sessions_ = 0;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_SESSION_FAKE_COORDINATOR_H_
