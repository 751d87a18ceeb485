#include "core/window/window.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/window/civil.h"

namespace assay::window {
namespace {

absl::Status WindowError(absl::string_view id, const v1::Window& window, MessageArgs args = {}) {
  args.emplace_back("at", "");
  args.emplace_back("window", window.name());
  return Error(absl::StatusCode::kInvalidArgument, id, args);
}

// The first moment of `zone` at or after the civil time: the earlier one where it is repeated, the
// transition where it is skipped.
absl::Time FirstMoment(const absl::TimeZone& zone, absl::CivilSecond civil) {
  absl::TimeZone::TimeInfo info = zone.At(civil);
  return info.kind == absl::TimeZone::TimeInfo::SKIPPED ? info.trans : info.pre;
}

bool IsOn(const v1::Window& window, absl::CivilDay day) {
  if (window.days().empty()) return true;
  int weekday = static_cast<int>(absl::GetWeekday(day)) + v1::WEEKDAY_MON;  // Monday is 0
  return std::find(window.days().begin(), window.days().end(), weekday) != window.days().end();
}

absl::StatusOr<std::vector<Occurrence>> ExpandRelative(const v1::Window& window,
                                                       const v1::Plan& plan,
                                                       const absl::TimeZone& zone,
                                                       absl::Time run_start) {
  absl::Duration after = FromProto(window.relative().after());
  absl::Duration length = FromProto(window.relative().length());
  if (after < absl::ZeroDuration() || after > kLongestRun || length <= absl::ZeroDuration() ||
      length > kLongestRun) {
    return WindowError("window.bad_relative", window);
  }
  ASSAY_ASSIGN_OR_RETURN(absl::Duration run_length, RunLength(plan));
  if (plan.has_length() && after >= run_length) return std::vector<Occurrence>{};
  absl::Time start = run_start + after;
  return std::vector<Occurrence>{{start, start + length, absl::ToCivilDay(start, zone)}};
}

}  // namespace

absl::StatusOr<absl::Duration> RunLength(const v1::Plan& plan) {
  if (!plan.has_length()) return kDefaultRunLength;
  absl::Duration length = FromProto(plan.length());
  if (length <= absl::ZeroDuration() || length > kLongestRun) {
    return Error(absl::StatusCode::kInvalidArgument, "window.bad_run_length",
                 {{"at", ""}, {"plan", plan.name()}});
  }
  return length;
}

absl::StatusOr<absl::TimeZone> ZoneOf(const v1::Window& window, const v1::Plan& plan) {
  if (!window.time_zone().empty()) return LoadZone(window.time_zone());
  if (!plan.time_zone().empty()) return LoadZone(plan.time_zone());
  if (window.has_relative()) return absl::UTCTimeZone();
  return WindowError("window.no_zone", window);
}

absl::StatusOr<std::vector<Occurrence>> Expand(const v1::Window& window, const v1::Plan& plan,
                                               absl::Time run_start) {
  if (window.has_relative() != window.intervals().empty()) {
    return WindowError("window.civil_or_relative", window);
  }
  ASSAY_ASSIGN_OR_RETURN(absl::TimeZone zone, ZoneOf(window, plan));
  if (window.has_relative()) return ExpandRelative(window, plan, zone, run_start);

  std::vector<DaySpan> spans;
  for (const v1::CivilInterval& interval : window.intervals()) {
    ASSAY_ASSIGN_OR_RETURN(DaySpan span, ReadInterval(interval));
    spans.push_back(span);
  }
  if (auto overlap = FindOverlap(window); overlap.has_value()) {
    auto text = [&](int i) {
      return absl::StrCat(window.intervals(i).start(), "-", window.intervals(i).end());
    };
    return WindowError("window.overlap", window,
                       {{"first", text(overlap->first)}, {"second", text(overlap->second)}});
  }
  std::set<absl::CivilDay> excluded;
  for (const std::string& text : window.excluded_dates()) {
    ASSAY_ASSIGN_OR_RETURN(absl::CivilDay day, ParseDate(text));
    excluded.insert(day);
  }
  ASSAY_ASSIGN_OR_RETURN(absl::Duration length, RunLength(plan));
  const absl::Time run_end = run_start + length;

  std::vector<Occurrence> occurrences;
  // An interval lasts up to 24 civil hours from any hour of its day, so that one which is open now
  // began yesterday at the earliest; the further day is for zones that skip a whole one.
  const absl::CivilDay last = absl::ToCivilDay(run_end, zone);
  for (absl::CivilDay day = absl::ToCivilDay(run_start, zone) - 2; day <= last; ++day) {
    if (!IsOn(window, day) || excluded.count(day) > 0) continue;
    for (const DaySpan& span : spans) {
      absl::Time start = FirstMoment(zone, absl::CivilSecond(day) + span.start);
      absl::Time end = FirstMoment(zone, absl::CivilSecond(day) + span.end);
      start = std::max(start, run_start);
      if (start < end && start < run_end) occurrences.push_back({start, end, day});
    }
  }
  std::sort(occurrences.begin(), occurrences.end(),
            [](const Occurrence& a, const Occurrence& b) { return a.start < b.start; });
  return occurrences;
}

}  // namespace assay::window
