// Civil times as documents write them. Errors are INVALID_ARGUMENT and show the right form.
#ifndef ASSAY_CORE_WINDOW_CIVIL_H_
#define ASSAY_CORE_WINDOW_CIVIL_H_

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "assay/v1/model.pb.h"

namespace assay::window {

constexpr int kSecondsPerDay = 86'400;

// An IANA zone of the system's time zone database ("Asia/Shanghai", "UTC"). A name that the
// database does not have is an error, never UTC.
absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name);

// "HH:MM" or "HH:MM:SS" as seconds from midnight; "24:00" gives kSecondsPerDay.
absl::StatusOr<int> ParseTimeOfDay(absl::string_view text);

// "YYYY-MM-DD", a day that exists, years 1900 to 9999.
absl::StatusOr<absl::CivilDay> ParseDate(absl::string_view text);

// An interval as seconds from the midnight that begins its day. `end` is after `start` and at most
// 48 h: at or before `start` in the document means the next day. A start of "24:00" is an error.
struct DaySpan {
  int start = 0;
  int end = 0;
};
absl::StatusOr<DaySpan> ReadInterval(const v1::CivilInterval& interval);

// The first two civil intervals, by index, that are open at the same civil time of the same week,
// the one in `a`, the other in `b`. Excluded dates and zones are not looked at; intervals that
// ReadInterval refuses are passed over.
std::optional<std::pair<int, int>> FindOverlap(const v1::Window& a, const v1::Window& b);

// The same between two different intervals of one window, or the same interval on two days.
std::optional<std::pair<int, int>> FindOverlap(const v1::Window& window);

}  // namespace assay::window

#endif  // ASSAY_CORE_WINDOW_CIVIL_H_
