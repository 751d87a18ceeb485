#include "core/window/civil.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "common/base/message.h"

namespace assay::window {
namespace {

constexpr int kSecondsPerWeek = 7 * kSecondsPerDay;

absl::Status CivilError(absl::string_view id, absl::string_view text) {
  return Error(absl::StatusCode::kInvalidArgument, id,
               {{"at", ""}, {"text", std::string(text.substr(0, 60))}});
}

// `text` as exactly two or four digits; -1 otherwise.
int Digits(absl::string_view text) {
  int value = 0;
  for (char c : text) {
    if (!absl::ascii_isdigit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

// The database's names, so that neither a path nor one of Abseil's own names ("Fixed/UTC+01:00",
// "localtime") is taken for a zone: these differ from host to host.
bool LooksLikeZone(absl::string_view name) {
  if (name.empty() || name.size() > 64 || !absl::ascii_isalpha(name[0])) return false;
  if (name == "localtime" || name == "posixrules" || absl::StartsWith(name, "Fixed/")) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
  });
}

// A stretch of the week, in seconds from Monday's midnight.
struct WeekSpan {
  int start;
  int end;
  int owner;  // 0: first window, 1: second
  int interval;
};

void AppendWeek(const v1::Window& window, int owner, std::vector<WeekSpan>* spans) {
  bool on[7] = {};
  for (int day : window.days()) {
    if (day >= v1::WEEKDAY_MON && day <= v1::WEEKDAY_SUN) on[day - v1::WEEKDAY_MON] = true;
  }
  for (int i = 0; i < window.intervals_size(); ++i) {
    absl::StatusOr<DaySpan> span = ReadInterval(window.intervals(i));
    if (!span.ok()) continue;
    for (int day = 0; day < 7; ++day) {
      if (!window.days().empty() && !on[day]) continue;
      int start = day * kSecondsPerDay + span->start;
      int end = day * kSecondsPerDay + span->end;
      // The week is a circle: what reaches into the next one is cut in two.
      spans->push_back({start, std::min(end, kSecondsPerWeek), owner, i});
      if (end > kSecondsPerWeek) spans->push_back({0, end - kSecondsPerWeek, owner, i});
    }
  }
}

// The first of `spans` that begins before an earlier one has ended; between owners only if
// `across`.
std::optional<std::pair<int, int>> FirstOverlap(std::vector<WeekSpan> spans, bool across) {
  std::sort(spans.begin(), spans.end(), [](const WeekSpan& a, const WeekSpan& b) {
    return std::tie(a.start, a.owner, a.interval) < std::tie(b.start, b.owner, b.interval);
  });
  const WeekSpan* latest[2] = {nullptr, nullptr};  // by owner, the one that ends last so far
  for (const WeekSpan& span : spans) {
    const WeekSpan* other = latest[across ? 1 - span.owner : span.owner];
    if (other != nullptr && span.start < other->end) {
      if (across && span.owner == 1) return std::make_pair(other->interval, span.interval);
      if (across) return std::make_pair(span.interval, other->interval);
      return std::minmax({other->interval, span.interval});
    }
    const WeekSpan*& last = latest[span.owner];
    if (last == nullptr || span.end > last->end) last = &span;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name) {
  absl::TimeZone zone;
  if (!LooksLikeZone(name) || !absl::LoadTimeZone(name, &zone)) {
    return CivilError("window.unknown_zone", name);
  }
  return zone;
}

absl::StatusOr<int> ParseTimeOfDay(absl::string_view text) {
  bool shape = (text.size() == 5 || (text.size() == 8 && text[5] == ':')) && text[2] == ':';
  if (!shape) return CivilError("window.bad_time", text);
  int hour = Digits(text.substr(0, 2));
  int minute = Digits(text.substr(3, 2));
  int second = text.size() == 8 ? Digits(text.substr(6, 2)) : 0;
  bool in_range = hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && second >= 0 &&
                  second < 60 && (hour < 24 || (minute == 0 && second == 0));
  if (!in_range) return CivilError("window.bad_time", text);
  return hour * 3600 + minute * 60 + second;
}

absl::StatusOr<absl::CivilDay> ParseDate(absl::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return CivilError("window.bad_date", text);
  }
  int year = Digits(text.substr(0, 4));
  int month = Digits(text.substr(5, 2));
  int day = Digits(text.substr(8, 2));
  if (year < 1900 || month < 1 || day < 1) return CivilError("window.bad_date", text);
  absl::CivilDay date(year, month, day);  // normalizes: 02-30 becomes 03-02
  if (date.month() != month || date.day() != day) return CivilError("window.bad_date", text);
  return date;
}

absl::StatusOr<DaySpan> ReadInterval(const v1::CivilInterval& interval) {
  absl::StatusOr<int> start = ParseTimeOfDay(interval.start());
  if (!start.ok()) return start.status();
  if (*start == kSecondsPerDay) return CivilError("window.start_at_24", interval.start());
  absl::StatusOr<int> end = ParseTimeOfDay(interval.end());
  if (!end.ok()) return end.status();
  return DaySpan{*start, *end > *start ? *end : *end + kSecondsPerDay};
}

std::optional<std::pair<int, int>> FindOverlap(const v1::Window& a, const v1::Window& b) {
  std::vector<WeekSpan> spans;
  AppendWeek(a, 0, &spans);
  AppendWeek(b, 1, &spans);
  return FirstOverlap(std::move(spans), /*across=*/true);
}

std::optional<std::pair<int, int>> FindOverlap(const v1::Window& window) {
  std::vector<WeekSpan> spans;
  AppendWeek(window, 0, &spans);
  return FirstOverlap(std::move(spans), /*across=*/false);
}

}  // namespace assay::window
