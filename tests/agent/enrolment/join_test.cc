// Joining, against an enrolment service on real TLS.
#include "agent/enrolment/join.h"

#include <gmock/gmock.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "agent/enrolment/state.h"
#include "assay/v1/agent.grpc.pb.h"
#include "common/base/message.h"
#include "common/files/files.h"
#include "common/rpc/credentials.h"
#include "common/rpc/status.h"
#include "tests/common/tls/test_pki.h"

namespace assay::enrolment {
namespace {

using ::assay::testing::ReadText;
using ::assay::testing::TestCa;
using ::assay::testing::TestDirectory;
using ::assay::testing::WriteText;

// Knows one token.
class FakeEnrolment : public v1::EnrolmentService::Service {
 public:
  explicit FakeEnrolment(TestCa* ca) : ca_(ca) {}
  grpc::Status Enrol(grpc::ServerContext*, const v1::EnrolRequest* request,
                     v1::EnrolResponse* response) override {
    ++calls;
    version = request->version();
    if (request->token() != "right") {
      return rpc::ToGrpc(Error(absl::StatusCode::kUnauthenticated, "identity.certificate_unknown"));
    }
    // Whatever the token is for: only the answer says so.
    store::Subject subject = {v1::SUBJECT_KIND_VANTAGE, "sz-office", v1::ROLE_UNSPECIFIED};
    auto issued =
        ca_->authority().Issue(request->csr_der(), subject, "agent-7", absl::Now(), absl::Hours(1));
    if (!issued.ok()) return rpc::ToGrpc(issued.status());
    response->set_certificate_chain_pem(spoil ? "rubbish" : issued->chain_pem);
    response->set_subject_kind(kind);
    response->set_subject("sz-office");
    response->set_agent_id("agent-7");
    return grpc::Status::OK;
  }

  v1::SubjectKind kind = v1::SUBJECT_KIND_VANTAGE;
  bool spoil = false;
  int calls = 0;
  std::string version;

 private:
  TestCa* const ca_;
};

class JoinTest : public ::testing::Test {
 protected:
  JoinTest() {
    EXPECT_TRUE(tls::SaveIdentity(directory_.File("serving.pem"), ca_.Serving()).ok());
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(
        "127.0.0.1:0", *rpc::ServerCredentialsFromFile(directory_.File("serving.pem")), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    options_.coordinator = {"127.0.0.1", port};
    options_.token = "right";
    options_.ca_fingerprint = tls::ReadCertificate(ca_.authority().ca_pem())->sha256;
    options_.state_directory = directory_.File("var/agent");
    options_.version = "1.2.3";
    options_.timeout = absl::Seconds(10);
  }
  ~JoinTest() override { server_->Shutdown(std::chrono::system_clock::now()); }

  StatePaths Paths() const { return StatePaths(options_.state_directory); }

  TestDirectory directory_;
  TestCa ca_;
  FakeEnrolment service_{&ca_};
  std::unique_ptr<grpc::Server> server_;
  JoinOptions options_;
};

TEST_F(JoinTest, GivesAnIdentityThatTheCaSignedAndTheAddress) {
  auto response = Join(options_);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->subject(), "sz-office");
  EXPECT_EQ(service_.version, "1.2.3");

  auto enrolment = LoadEnrolment(Paths());
  ASSERT_TRUE(enrolment.ok()) << enrolment.status();
  EXPECT_EQ(enrolment->coordinator.ToString(), options_.coordinator.ToString());
  EXPECT_EQ(enrolment->identity.ca_pem, ca_.authority().ca_pem());
  EXPECT_EQ(tls::ReadCertificate(enrolment->identity.chain_pem)->uri, "assay://lab/agent/agent-7");
  EXPECT_LT(absl::AbsDuration(enrolment->obtained - absl::Now()), absl::Minutes(5));

  int status = 0;
  WriteText(directory_.File("ca.pem"), ca_.authority().ca_pem());
  std::string output = testing::Output(
      "openssl verify -CAfile " + directory_.File("ca.pem") + " " + Paths().identity, &status);
  EXPECT_EQ(status, 0) << output;
}

TEST_F(JoinTest, TheDirectoryIsForItsOwnerOnly) {
  ASSERT_TRUE(Join(options_).ok());
  for (const std::string& path : {Paths().directory, Paths().identity, Paths().coordinator}) {
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0) << path;
    EXPECT_EQ(info.st_mode & 077, 0u) << path;
  }
}

TEST_F(JoinTest, AnEnrolmentIsNotReplacedUnlessAskedTo) {
  ASSERT_TRUE(Join(options_).ok());
  std::string before = ReadText(Paths().identity);

  absl::Status again = Join(options_).status();
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  EXPECT_EQ(service_.calls, 1);  // the token is not spent
  EXPECT_EQ(ReadText(Paths().identity), before);

  options_.replace = true;
  EXPECT_TRUE(Join(options_).ok());
  EXPECT_NE(ReadText(Paths().identity), before);
}

TEST_F(JoinTest, FailuresLeaveNothingBehindAndSaveTheToken) {
  struct Case {
    const char* name;
    std::function<void()> spoil;
    absl::StatusCode code;
    int calls;
  };
  const Case cases[] = {
      {"token", [&] { options_.token = "wrong"; }, absl::StatusCode::kUnauthenticated, 1},
      {"fingerprint", [&] { options_.ca_fingerprint = "sha256:" + std::string(64, '0'); },
       absl::StatusCode::kPermissionDenied, 0},
      {"malformed", [&] { options_.ca_fingerprint = "abc"; }, absl::StatusCode::kInvalidArgument,
       0},
      {"nobody there", [&] { options_.coordinator.port = 1; }, absl::StatusCode::kUnavailable, 0},
      {"for a person", [&] { service_.kind = v1::SUBJECT_KIND_PERSON; },
       absl::StatusCode::kFailedPrecondition, 1},
  };
  const JoinOptions good = options_;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    options_ = good;
    service_.kind = v1::SUBJECT_KIND_VANTAGE;
    service_.calls = 0;
    c.spoil();
    absl::Status status = Join(options_).status();
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_TRUE(MessageOf(status).has_value()) << status;
    EXPECT_EQ(service_.calls, c.calls);
    EXPECT_FALSE(std::filesystem::exists(directory_.File("var")));
  }
}

TEST_F(JoinTest, ABadAnswerIsNotStored) {
  service_.spoil = true;
  EXPECT_FALSE(Join(options_).ok());
  EXPECT_FALSE(std::filesystem::exists(directory_.File("var")));
}

TEST_F(JoinTest, AFailedReplacementLeavesTheOldEnrolment) {
  ASSERT_TRUE(Join(options_).ok());
  std::string identity = ReadText(Paths().identity);
  std::string coordinator = ReadText(Paths().coordinator);
  service_.spoil = true;
  options_.replace = true;
  options_.coordinator.host = "localhost";
  EXPECT_FALSE(Join(options_).ok());
  EXPECT_EQ(ReadText(Paths().identity), identity);
  EXPECT_EQ(ReadText(Paths().coordinator), coordinator);
}

TEST_F(JoinTest, ADirectoryThatARunningAgentUsesIsLeftAlone) {
  std::filesystem::create_directories(options_.state_directory);
  auto lock = files::DirectoryLock::Acquire(options_.state_directory);
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(absl::IsUnavailable(Join(options_).status()));
  EXPECT_EQ(service_.calls, 0);
  EXPECT_TRUE(std::filesystem::exists(options_.state_directory + "/lock"));
}

TEST_F(JoinTest, ADirectoryThatCannotBeMadeSavesTheToken) {
  WriteText(directory_.File("file"), "");
  options_.state_directory = directory_.File("file/agent");
  EXPECT_FALSE(Join(options_).ok());
  EXPECT_EQ(service_.calls, 0);
}

TEST_F(JoinTest, ANameThatTheCertificateLacksIsSaid) {
  // The same coordinator by an address that its certificate does not have.
  options_.coordinator.host = "127.0.0.2";
  absl::Status status = Join(options_).status();
  ASSERT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(MessageOf(status).has_value()) << status;
  EXPECT_FALSE(std::filesystem::exists(directory_.File("var")));
}

TEST_F(JoinTest, ADirectoryWithoutEnrolmentSaysWhatToDo) {
  absl::Status status = LoadEnrolment(Paths()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(MessageOf(status)->id(), "agent.not_enrolled");
}

}  // namespace
}  // namespace assay::enrolment
