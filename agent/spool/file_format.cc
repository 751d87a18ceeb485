#include "agent/spool/file_format.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/base/message.h"
#include "common/hash/sha256.h"

namespace assay::spool {
namespace {

constexpr absl::string_view kMagic = "assay-spool";
constexpr absl::string_view kVersion1 = "1";
constexpr absl::string_view kResultSuffix = ".result";
constexpr size_t kLongestRunName = 180;  // names end at 255 bytes
constexpr size_t kLongestHeader = 200;

absl::Status Damaged(absl::string_view name, absl::string_view detail) {
  return Error(absl::StatusCode::kDataLoss, "agent.spool_file_damaged",
               {{"file", std::string(name)}, {"detail", std::string(detail)}});
}

}  // namespace

std::string EncodeFile(const v1::TaskResult& result) {
  std::string payload = result.SerializeAsString();
  return absl::StrCat(kMagic, " ", kVersion1, " ", payload.size(), " ", Sha256Hex(payload), "\n",
                      payload);
}

absl::StatusOr<v1::TaskResult> DecodeFile(absl::string_view content, absl::string_view name) {
  size_t newline = content.substr(0, kLongestHeader).find('\n');
  if (newline == absl::string_view::npos) return Damaged(name, "no header");
  std::vector<absl::string_view> header = absl::StrSplit(content.substr(0, newline), ' ');
  absl::string_view payload = content.substr(newline + 1);
  if (header.size() != 4 || header[0] != kMagic) return Damaged(name, "no header");
  if (header[1] != kVersion1) return Damaged(name, absl::StrCat("format ", header[1]));
  uint64_t bytes = 0;
  if (!absl::SimpleAtoi(header[2], &bytes)) return Damaged(name, "no header");
  if (bytes != payload.size()) {
    return Damaged(name, absl::StrCat(payload.size(), " of ", bytes, " bytes"));
  }
  if (Sha256Hex(payload) != header[3]) return Damaged(name, "checksum");
  v1::TaskResult result;
  if (!result.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return Damaged(name, "not a result");
  }
  if (FileName(TaskKey::Of(result.ref())) != name) return Damaged(name, "belongs to another task");
  return result;
}

std::string FileName(const TaskKey& key) {
  std::string run;
  for (char c : key.run) {
    bool plain = absl::ascii_isalnum(c) || c == '-' || c == '_' || (c == '.' && !run.empty());
    if (plain) {
      run += c;
    } else {
      absl::StrAppendFormat(&run, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  if (run.size() > kLongestRunName) run = absl::StrCat("%sha256-", Sha256Hex(key.run));
  return absl::StrCat(run, "@", key.task, "@", key.attempt, kResultSuffix);
}

bool IsResultFile(absl::string_view name) { return absl::EndsWith(name, kResultSuffix); }

std::string FinalNameOf(absl::string_view temporary) {
  size_t suffix = temporary.rfind(absl::StrCat(kResultSuffix, "."));
  if (suffix == absl::string_view::npos) return "";
  return std::string(temporary.substr(0, suffix + kResultSuffix.size()));
}

}  // namespace assay::spool
