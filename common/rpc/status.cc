#include "common/rpc/status.h"

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "common/base/message.h"

namespace assay::rpc {
namespace {

constexpr size_t kMaxText = 1 << 10;
constexpr size_t kMaxArgument = 2 << 10;
constexpr size_t kMaxDetails = 12 << 10;

// At most `limit` bytes and an ellipsis, never within a UTF-8 character.
std::string Cut(absl::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return std::string(text.substr(0, limit)) + "…";
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string details;
  if (std::optional<v1::Message> message = MessageOf(status); message.has_value()) {
    for (auto& [name, value] : *message->mutable_args()) value = Cut(value, kMaxArgument);
    details = message->SerializeAsString();
    if (details.size() > kMaxDetails) details.clear();
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), Cut(status.message(), kMaxText),
                      details);
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  auto code = static_cast<absl::StatusCode>(status.error_code());
  if (code < absl::StatusCode::kCancelled || code > absl::StatusCode::kUnauthenticated) {
    code = absl::StatusCode::kUnknown;
  }
  v1::Message message;
  if (!status.error_details().empty() && message.ParseFromString(status.error_details()) &&
      !message.id().empty()) {
    return ErrorFromMessage(code, message);
  }
  return absl::Status(code, status.error_message());
}

}  // namespace assay::rpc
