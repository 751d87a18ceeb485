#include "core/window/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/base/proto_time.h"
#include "google/protobuf/text_format.h"

namespace assay::window {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Window WindowOf(const std::string& text) {
  v1::Window window;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &window));
  window.set_name("peak");
  return window;
}

absl::Time At(const std::string& rfc3339) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, rfc3339, &time, &error)) << error;
  return time;
}

v1::Plan PlanIn(const std::string& zone, absl::Duration length) {
  v1::Plan plan;
  plan.set_name("trial");
  plan.set_time_zone(zone);
  *plan.mutable_length() = ToProto(length);
  return plan;
}

// "start/end day", times in UTC.
std::vector<std::string> Expanded(const std::string& window, const std::string& zone,
                                  const std::string& run_start, absl::Duration length) {
  auto occurrences = Expand(WindowOf(window), PlanIn(zone, length), At(run_start));
  EXPECT_TRUE(occurrences.ok()) << occurrences.status();
  std::vector<std::string> texts;
  for (const Occurrence& o : *occurrences) {
    auto utc = [](absl::Time t) {
      return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone());
    };
    texts.push_back(absl::StrCat(utc(o.start), "/", utc(o.end), " ", absl::FormatCivilTime(o.day)));
  }
  return texts;
}

constexpr absl::Duration kDay = absl::Hours(24);

TEST(ExpandTest, EveningInShanghaiOnEachDay) {
  EXPECT_THAT(Expanded("intervals { start: '19:00' end: '23:00' }", "Asia/Shanghai",
                       "2026-12-01T00:00:00Z", 2 * kDay),
              ElementsAre("2026-12-01T11:00:00Z/2026-12-01T15:00:00Z 2026-12-01",
                          "2026-12-02T11:00:00Z/2026-12-02T15:00:00Z 2026-12-02"));
}

TEST(ExpandTest, PastMidnightBelongsToTheDayItStartsOn) {
  EXPECT_THAT(
      Expanded("intervals { start: '22:00' end: '02:00' }", "UTC", "2026-12-01T12:00:00Z", kDay),
      ElementsAre("2026-12-01T22:00:00Z/2026-12-02T02:00:00Z 2026-12-01"));
}

TEST(ExpandTest, OneAlreadyOpenIsCutAndKeepsItsDay) {
  EXPECT_THAT(Expanded("intervals { start: '22:00' end: '02:00' }", "UTC", "2026-12-02T01:30:00Z",
                       absl::Hours(1)),
              ElementsAre("2026-12-02T01:30:00Z/2026-12-02T02:00:00Z 2026-12-01"));
}

TEST(ExpandTest, OneThatEndsAsTheRunStartsIsLeftOut) {
  EXPECT_THAT(Expanded("intervals { start: '22:00' end: '02:00' }", "UTC", "2026-12-02T02:00:00Z",
                       absl::Hours(1)),
              IsEmpty());
}

TEST(ExpandTest, OneThatStartsAsTheRunEndsIsLeftOut) {
  EXPECT_THAT(Expanded("intervals { start: '22:00' end: '23:00' }", "UTC", "2026-12-01T20:00:00Z",
                       absl::Hours(2)),
              IsEmpty());
}

TEST(ExpandTest, OneThatStartsWithinTheRunIsNotCutAtItsEnd) {
  EXPECT_THAT(Expanded("intervals { start: '21:00' end: '23:00' }", "UTC", "2026-12-01T20:00:00Z",
                       absl::Hours(2)),
              ElementsAre("2026-12-01T21:00:00Z/2026-12-01T23:00:00Z 2026-12-01"));
}

TEST(ExpandTest, TwentyFourOClockIsTheNextMidnight) {
  EXPECT_THAT(Expanded("intervals { start: '00:00' end: '24:00' }", "UTC", "2026-12-01T00:00:00Z",
                       2 * kDay),
              ElementsAre("2026-12-01T00:00:00Z/2026-12-02T00:00:00Z 2026-12-01",
                          "2026-12-02T00:00:00Z/2026-12-03T00:00:00Z 2026-12-02"));
}

TEST(ExpandTest, EqualStartAndEndLastADay) {
  EXPECT_THAT(Expanded("intervals { start: '08:00' end: '08:00' }", "UTC", "2026-12-01T08:00:00Z",
                       absl::Hours(1)),
              ElementsAre("2026-12-01T08:00:00Z/2026-12-02T08:00:00Z 2026-12-01"));
}

TEST(ExpandTest, OnlyOnItsDaysAndNotOnExcludedDates) {
  // 2026-10-01 is a Thursday and a public holiday.
  EXPECT_THAT(Expanded("intervals { start: '09:00' end: '10:00' } days: WEEKDAY_THU "
                       "days: WEEKDAY_SAT excluded_dates: '2026-10-01'",
                       "UTC", "2026-09-30T00:00:00Z", 10 * kDay),
              ElementsAre("2026-10-03T09:00:00Z/2026-10-03T10:00:00Z 2026-10-03",
                          "2026-10-08T09:00:00Z/2026-10-08T10:00:00Z 2026-10-08"));
}

TEST(ExpandTest, SeveralIntervalsComeInOrder) {
  EXPECT_THAT(Expanded("intervals { start: '20:00' end: '21:00' } "
                       "intervals { start: '08:00' end: '09:00' }",
                       "UTC", "2026-12-01T00:00:00Z", kDay),
              ElementsAre("2026-12-01T08:00:00Z/2026-12-01T09:00:00Z 2026-12-01",
                          "2026-12-01T20:00:00Z/2026-12-01T21:00:00Z 2026-12-01"));
}

TEST(ExpandTest, WindowsZoneWinsOverThePlans) {
  EXPECT_THAT(Expanded("intervals { start: '09:00' end: '10:00' } time_zone: 'Asia/Tokyo'", "UTC",
                       "2026-12-01T00:00:00Z", kDay),
              ElementsAre("2026-12-01T00:00:00Z/2026-12-01T01:00:00Z 2026-12-01"));
}

// New York, 2026-03-08: 02:00 EST becomes 03:00 EDT at 07:00Z.
TEST(ExpandTest, SpringForwardBeginsAtTheTransition) {
  const struct {
    const char* interval;
    std::vector<std::string> expected;
  } kCases[] = {
      {"start: '02:30' end: '04:00'", {"2026-03-08T07:00:00Z/2026-03-08T08:00:00Z 2026-03-08"}},
      {"start: '01:30' end: '02:30'", {"2026-03-08T06:30:00Z/2026-03-08T07:00:00Z 2026-03-08"}},
      {"start: '01:30' end: '03:30'", {"2026-03-08T06:30:00Z/2026-03-08T07:30:00Z 2026-03-08"}},
      {"start: '02:10' end: '02:50'", {}},  // none of it exists
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Expanded(absl::StrCat("intervals { ", c.interval, " }"), "America/New_York",
                       "2026-03-08T05:00:00Z", absl::Hours(20)),
              c.expected)
        << c.interval;
  }
}

// Berlin, 2026-10-25: 03:00 CEST becomes 02:00 CET at 01:00Z.
TEST(ExpandTest, FallBackCountsFromTheFirst) {
  const struct {
    const char* interval;
    std::vector<std::string> expected;
  } kCases[] = {
      {"start: '02:30' end: '04:00'", {"2026-10-25T00:30:00Z/2026-10-25T03:00:00Z 2026-10-25"}},
      {"start: '02:00' end: '02:30'", {"2026-10-25T00:00:00Z/2026-10-25T00:30:00Z 2026-10-25"}},
      {"start: '01:30' end: '02:30'", {"2026-10-24T23:30:00Z/2026-10-25T00:30:00Z 2026-10-25"}},
      {"start: '02:30' end: '03:00'", {"2026-10-25T00:30:00Z/2026-10-25T02:00:00Z 2026-10-25"}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Expanded(absl::StrCat("intervals { ", c.interval, " }"), "Europe/Berlin",
                       "2026-10-24T22:00:00Z", absl::Hours(20)),
              c.expected)
        << c.interval;
  }
}

// China kept summer time from 1986 to 1991: 1988-04-17, 02:00 CST became 03:00 CDT at 18:00Z of the
// day before, and noon was 03:00Z instead of 04:00Z.
TEST(ExpandTest, ShanghaiHadSummerTimeOnce) {
  EXPECT_THAT(Expanded("intervals { start: '12:00' end: '13:00' }", "Asia/Shanghai",
                       "1988-04-15T16:00:00Z", 2 * kDay),
              ElementsAre("1988-04-16T04:00:00Z/1988-04-16T05:00:00Z 1988-04-16",
                          "1988-04-17T03:00:00Z/1988-04-17T04:00:00Z 1988-04-17"));
}

// Samoa had no 2011-12-30.
TEST(ExpandTest, ADayThatDoesNotExistHasNoOccurrence) {
  EXPECT_THAT(Expanded("intervals { start: '12:00' end: '13:00' }", "Pacific/Apia",
                       "2011-12-29T11:00:00Z", 3 * kDay),
              ElementsAre("2011-12-29T22:00:00Z/2011-12-29T23:00:00Z 2011-12-29",
                          "2011-12-30T22:00:00Z/2011-12-30T23:00:00Z 2011-12-31",
                          "2011-12-31T22:00:00Z/2011-12-31T23:00:00Z 2012-01-01"));
}

TEST(ExpandTest, RelativeWindowCountsFromTheRunsStart) {
  EXPECT_THAT(Expanded("relative { after { seconds: 22 } length { seconds: 20 } }", "Asia/Shanghai",
                       "2026-12-01T15:59:50Z", absl::Minutes(1)),
              ElementsAre("2026-12-01T16:00:12Z/2026-12-01T16:00:32Z 2026-12-02"));
}

TEST(ExpandTest, RelativeWindowAfterTheRunsOwnLengthIsLeftOut) {
  EXPECT_THAT(Expanded("relative { after { seconds: 60 } length { seconds: 20 } }", "UTC",
                       "2026-12-01T00:00:00Z", absl::Minutes(1)),
              IsEmpty());
}

TEST(ExpandTest, RelativeWindowNeedsNoZone) {
  auto occurrences = Expand(WindowOf("relative { length { seconds: 20 } }"), v1::Plan(),
                            At("2026-12-01T23:59:59Z"));
  ASSERT_TRUE(occurrences.ok()) << occurrences.status();
  ASSERT_EQ(occurrences->size(), 1u);
  EXPECT_EQ((*occurrences)[0].day, absl::CivilDay(2026, 12, 1));
}

TEST(ExpandTest, LastsSevenDaysWhereThePlanSaysNothing) {
  v1::Plan plan;
  plan.set_time_zone("UTC");
  auto occurrences = Expand(WindowOf("intervals { start: '12:00' end: '13:00' }"), plan,
                            At("2026-12-01T00:00:00Z"));
  ASSERT_TRUE(occurrences.ok());
  EXPECT_EQ(occurrences->size(), 7u);
}

TEST(ExpandTest, RefusesWhatItCannotRead) {
  const struct {
    const char* window;
    const char* zone;
    const char* says;
  } kCases[] = {
      {"intervals { start: '9:00' end: '10:00' }", "UTC", "\"9:00\" is not a time of day"},
      {"intervals { start: '09:00' end: '24:01' }", "UTC", "\"24:01\" is not a time of day"},
      {"intervals { start: '09:60' end: '10:00' }", "UTC", "\"09:60\" is not a time of day"},
      {"intervals { start: '09:00:60' end: '10:00' }", "UTC", "is not a time of day"},
      {"intervals { start: '-9:00' end: '10:00' }", "UTC", "is not a time of day"},
      {"intervals { start: '24:00' end: '02:00' }", "UTC", "cannot start at 24:00"},
      {"intervals { start: '09:00' end: '10:00' } excluded_dates: '2026-02-29'", "UTC",
       "\"2026-02-29\" is not a date"},
      {"intervals { start: '09:00' end: '10:00' } excluded_dates: '2026-2-2'", "UTC",
       "\"2026-2-2\" is not a date"},
      {"intervals { start: '09:00' end: '10:00' }", "", "window peak has no time zone"},
      {"intervals { start: '09:00' end: '10:00' }", "Asia/Shangai",
       "unknown time zone \"Asia/Shangai\""},
      {"intervals { start: '09:00' end: '10:00' }", "Fixed/UTC+08:00:00", "unknown time zone"},
      {"intervals { start: '09:00' end: '10:00' }", "localtime", "unknown time zone"},
      {"intervals { start: '09:00' end: '10:00' }", "/usr/share/zoneinfo/UTC", "unknown time zone"},
      {"intervals { start: '09:00' end: '10:00' }", "Asia", "unknown time zone"},
      {"intervals { start: '09:00' end: '10:00' }", "../zoneinfo/UTC", "unknown time zone"},
      {"", "UTC", "needs either intervals or relative"},
      {"intervals { start: '09:00' end: '10:00' } relative { length { seconds: 1 } }", "UTC",
       "needs either intervals or relative"},
      {"relative { after { seconds: 1 } }", "UTC", "out of range"},
      {"relative { after { seconds: -1 } length { seconds: 1 } }", "UTC", "out of range"},
      {"relative { length { seconds: 99999999999 } }", "UTC", "out of range"},
      {"intervals { start: '09:00' end: '11:00' } intervals { start: '10:00' end: '12:00' }", "UTC",
       "09:00-11:00 and 10:00-12:00 overlap"},
      {"intervals { start: '22:00' end: '03:00' } intervals { start: '02:00' end: '04:00' }", "UTC",
       "22:00-03:00 and 02:00-04:00 overlap"},
  };
  for (const auto& c : kCases) {
    auto occurrences = Expand(WindowOf(c.window), PlanIn(c.zone, kDay), At("2026-12-01T00:00:00Z"));
    ASSERT_FALSE(occurrences.ok()) << c.window;
    EXPECT_EQ(occurrences.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(occurrences.status().message()), HasSubstr(c.says));
  }
}

TEST(ExpandTest, RefusesLengthsOutOfRange) {
  v1::Window window = WindowOf("intervals { start: '09:00' end: '10:00' }");
  for (absl::Duration length : {absl::ZeroDuration(), -kDay, 367 * kDay, 1000000 * kDay}) {
    EXPECT_FALSE(Expand(window, PlanIn("UTC", length), absl::UnixEpoch()).ok()) << length;
  }
}

TEST(FindOverlapTest, LooksAcrossTheWeeksEnd) {
  v1::Window window = WindowOf(
      "intervals { start: '23:00' end: '01:00' } intervals { start: '00:30' end: '02:00' }"
      "days: WEEKDAY_SUN days: WEEKDAY_MON");
  EXPECT_FALSE(Expand(window, PlanIn("UTC", kDay), absl::UnixEpoch()).ok());

  window.mutable_days()->RemoveLast();  // only Sundays: 00:30 comes before 23:00
  EXPECT_TRUE(Expand(window, PlanIn("UTC", kDay), absl::UnixEpoch()).ok());
}

}  // namespace
}  // namespace assay::window
