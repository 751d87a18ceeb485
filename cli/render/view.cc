#include "cli/render/view.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace assay::render {
namespace {

// "RunState" -> "run_state".
std::string SnakeCase(const std::string& name) {
  std::string snake;
  for (char c : name) {
    if (absl::ascii_isupper(c) && !snake.empty()) snake += '_';
    snake += absl::ascii_tolower(c);
  }
  return snake;
}

}  // namespace

std::string FormatTime(absl::Time time, const View& view) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S %Ez", time, view.zone);
}

std::string FormatTime(const google::protobuf::Timestamp& time, const View& view) {
  if (time.seconds() == 0) return "-";
  return FormatTime(FromProto(time), view);
}

std::string MachineTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", FromProto(time), absl::UTCTimeZone());
}

std::string FormatClock(absl::Time time, const View& view) {
  return absl::FormatTime("%H:%M:%S", time, view.zone);
}

std::string FormatSpan(absl::Duration duration) {
  int64_t seconds = absl::ToInt64Seconds(duration);
  if (seconds <= 0) return "0s";
  int64_t days = seconds / 86400, hours = seconds / 3600 % 24, minutes = seconds / 60 % 60;
  std::string text;
  if (days > 0) absl::StrAppend(&text, days, "d");
  if (hours > 0) absl::StrAppend(&text, hours, "h");
  if (minutes > 0) absl::StrAppend(&text, minutes, "m");
  if (days == 0 && hours == 0 && (seconds % 60 > 0)) absl::StrAppend(&text, seconds % 60, "s");
  return text.empty() ? "0s" : text;
}

std::string EnumName(const google::protobuf::EnumDescriptor& type, int value) {
  const google::protobuf::EnumValueDescriptor* found = type.FindValueByNumber(value);
  if (found == nullptr) return absl::StrCat(value);
  std::string name = absl::AsciiStrToLower(found->name());
  std::string prefix = SnakeCase(type.name()) + "_";
  return absl::StartsWith(name, prefix) ? name.substr(prefix.size()) : name;
}

std::string EnumText(const google::protobuf::EnumDescriptor& type, int value, Language language) {
  if (type.FindValueByNumber(value) == nullptr) return absl::StrCat(value);
  return Text(language, absl::StrCat("cli.", SnakeCase(type.name()), ".", EnumName(type, value)));
}

std::string Bar(double fraction, int width) {
  fraction = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  int full = static_cast<int>(std::floor(fraction * width + 1e-9));
  return absl::StrCat(std::string(full, '#'), std::string(width - full, '-'));
}

}  // namespace assay::render
