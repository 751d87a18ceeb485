#include "common/rpc/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/message.h"

namespace assay::rpc {
namespace {

TEST(StatusTest, EveryCodeKeepsItsName) {
  // Names by gRPC's header, written out: the numbers agree only by convention.
  const std::pair<absl::StatusCode, grpc::StatusCode> kCodes[] = {
      {absl::StatusCode::kCancelled, grpc::StatusCode::CANCELLED},
      {absl::StatusCode::kUnknown, grpc::StatusCode::UNKNOWN},
      {absl::StatusCode::kInvalidArgument, grpc::StatusCode::INVALID_ARGUMENT},
      {absl::StatusCode::kDeadlineExceeded, grpc::StatusCode::DEADLINE_EXCEEDED},
      {absl::StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND},
      {absl::StatusCode::kAlreadyExists, grpc::StatusCode::ALREADY_EXISTS},
      {absl::StatusCode::kPermissionDenied, grpc::StatusCode::PERMISSION_DENIED},
      {absl::StatusCode::kResourceExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
      {absl::StatusCode::kFailedPrecondition, grpc::StatusCode::FAILED_PRECONDITION},
      {absl::StatusCode::kAborted, grpc::StatusCode::ABORTED},
      {absl::StatusCode::kOutOfRange, grpc::StatusCode::OUT_OF_RANGE},
      {absl::StatusCode::kUnimplemented, grpc::StatusCode::UNIMPLEMENTED},
      {absl::StatusCode::kInternal, grpc::StatusCode::INTERNAL},
      {absl::StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE},
      {absl::StatusCode::kDataLoss, grpc::StatusCode::DATA_LOSS},
      {absl::StatusCode::kUnauthenticated, grpc::StatusCode::UNAUTHENTICATED}};
  for (const auto& [ours, theirs] : kCodes) {
    EXPECT_EQ(ToGrpc(absl::Status(ours, "x")).error_code(), theirs);
    EXPECT_EQ(FromGrpc(grpc::Status(theirs, "x")).code(), ours);
  }
}

TEST(StatusTest, OkIsOk) {
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
}

TEST(StatusTest, PlainTextSurvives) {
  absl::Status back = FromGrpc(ToGrpc(absl::NotFoundError("no such thing")));
  EXPECT_EQ(back, absl::NotFoundError("no such thing"));
}

TEST(StatusTest, CodeOutOfRangeIsUnknown) {
  EXPECT_EQ(FromGrpc(grpc::Status(static_cast<grpc::StatusCode>(17), "x")).code(),
            absl::StatusCode::kUnknown);
  EXPECT_EQ(FromGrpc(grpc::Status(grpc::StatusCode::DO_NOT_USE, "x")).code(),
            absl::StatusCode::kUnknown);
}

TEST(StatusTest, DetailsOfOthersAreIgnored) {
  absl::Status back =
      FromGrpc(grpc::Status(grpc::StatusCode::INTERNAL, "text", "\xff\xff not a message"));
  EXPECT_EQ(back, absl::InternalError("text"));
}

TEST(StatusTest, LongArgumentsAreCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 3000; ++i) name += "长";
  grpc::Status sent =
      ToGrpc(Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", name}}));

  std::string run = MessageOf(FromGrpc(sent))->args().at("run");

  EXPECT_LE(run.size(), 2100u);
  EXPECT_EQ(run.substr(0, 3), "长");
  EXPECT_EQ(run.substr(run.size() - 6), "长…");
  EXPECT_EQ((run.size() - 3) % 3, 0u);
  EXPECT_LE(sent.error_message().size(), 1100u);
}

}  // namespace
}  // namespace assay::rpc
