#include "core/document/position.h"

#include <optional>

#include "absl/strings/str_cat.h"

namespace assay::document {

std::string AtText(absl::string_view file_name, Position position) {
  return absl::StrCat(file_name, ":", position.line, ":", position.column, ": ");
}

absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view id,
                     MessageArgs args) {
  args.emplace_back("at", AtText(file_name, position));
  return Error(absl::StatusCode::kInvalidArgument, id, args);
}

absl::Status Located(const absl::Status& status, absl::string_view at) {
  std::optional<v1::Message> message = MessageOf(status);
  if (!message.has_value()) {
    return absl::Status(status.code(), absl::StrCat(at, status.message()));
  }
  (*message->mutable_args())["at"] = std::string(at);
  return ErrorFromMessage(status.code(), *message);
}

}  // namespace assay::document
