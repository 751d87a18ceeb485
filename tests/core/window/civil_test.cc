#include "core/window/civil.h"

#include <gtest/gtest.h>

#include "google/protobuf/text_format.h"

namespace assay::window {
namespace {

v1::Window CivilWindow(const std::string& text) {
  v1::Window window;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &window));
  return window;
}

TEST(FindOverlapTest, OfOneWindow) {
  using Pair = std::optional<std::pair<int, int>>;
  const struct {
    const char* window;
    Pair expected;
  } kCases[] = {
      {"intervals { start: '09:00' end: '10:00' }", {}},
      {"intervals { start: '09:00' end: '10:00' } intervals { start: '10:00' end: '11:00' }", {}},
      {"intervals { start: '10:00' end: '11:00' } intervals { start: '09:00' end: '10:01' }",
       Pair({0, 1})},
      {"intervals { start: '08:00' end: '08:00' }", {}},
      {"intervals { start: '08:00' end: '08:00' } intervals { start: '12:00' end: '12:01' }",
       Pair({0, 1})},
      {"intervals { start: '22:00' end: '02:00' } intervals { start: '01:00' end: '03:00' }",
       Pair({0, 1})},
      // The second is on the day after the first, on which neither opens.
      {"intervals { start: '22:00' end: '02:00' } intervals { start: '01:00' end: '03:00' } "
       "days: WEEKDAY_WED",
       {}},
      {"intervals { start: '22:00' end: '02:00' } intervals { start: '01:00' end: '03:00' } "
       "days: WEEKDAY_SUN days: WEEKDAY_MON",
       Pair({0, 1})},
  };
  for (const auto& c : kCases)
    EXPECT_EQ(FindOverlap(CivilWindow(c.window)), c.expected) << c.window;
}

TEST(FindOverlapTest, OfTwoWindowsNamesTheIntervalOfEach) {
  v1::Window peak = CivilWindow(
      "intervals { start: '12:00' end: '13:00' } intervals { start: '19:00' end: '23:00' }");
  v1::Window night = CivilWindow("intervals { start: '22:00' end: '06:00' }");
  v1::Window morning = CivilWindow("intervals { start: '06:00' end: '09:00' }");

  EXPECT_EQ(FindOverlap(peak, night), std::make_optional(std::make_pair(1, 0)));
  EXPECT_EQ(FindOverlap(night, peak), std::make_optional(std::make_pair(0, 1)));
  EXPECT_EQ(FindOverlap(peak, morning), std::nullopt);
  EXPECT_EQ(FindOverlap(night, morning), std::nullopt);
}

TEST(FindOverlapTest, OfTwoWindowsOnDifferentDaysIsNone) {
  v1::Window a = CivilWindow("intervals { start: '09:00' end: '10:00' } days: WEEKDAY_MON");
  v1::Window b = CivilWindow("intervals { start: '09:00' end: '10:00' } days: WEEKDAY_TUE");

  EXPECT_EQ(FindOverlap(a, b), std::nullopt);
}

TEST(ParseDateTest, KnowsLeapYears) {
  EXPECT_TRUE(ParseDate("2028-02-29").ok());
  EXPECT_TRUE(ParseDate("2000-02-29").ok());
  EXPECT_FALSE(ParseDate("2100-02-29").ok());
  EXPECT_FALSE(ParseDate("2026-04-31").ok());
  EXPECT_FALSE(ParseDate("1899-12-31").ok());
  EXPECT_FALSE(ParseDate("2026-00-10").ok());
  EXPECT_FALSE(ParseDate("2026-10-00").ok());
  EXPECT_FALSE(ParseDate("2026/10/01").ok());
}

TEST(ParseTimeOfDayTest, ReadsSeconds) {
  EXPECT_EQ(*ParseTimeOfDay("00:00"), 0);
  EXPECT_EQ(*ParseTimeOfDay("19:30:05"), 70205);
  EXPECT_EQ(*ParseTimeOfDay("24:00:00"), kSecondsPerDay);
  EXPECT_FALSE(ParseTimeOfDay("24:00:01").ok());
  EXPECT_FALSE(ParseTimeOfDay("19:30:").ok());
  EXPECT_FALSE(ParseTimeOfDay("19-30").ok());
  EXPECT_FALSE(ParseTimeOfDay("").ok());
}

}  // namespace
}  // namespace assay::window
