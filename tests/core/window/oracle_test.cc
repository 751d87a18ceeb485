// Random windows in zones with every kind of transition, against Python's zoneinfo.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/proto_time.h"
#include "core/window/window.h"

namespace assay::window {
namespace {

// Summer time of an hour and of half an hour, at midnight, skipped days, changes of the offset,
// negative summer time, none.
constexpr const char* kZones[] = {"America/New_York",    "Europe/Berlin",
                                  "Asia/Shanghai",       "Asia/Hong_Kong",
                                  "Australia/Lord_Howe", "Pacific/Apia",
                                  "America/Sao_Paulo",   "Africa/Casablanca",
                                  "Europe/Dublin",       "Asia/Kathmandu",
                                  "Asia/Pyongyang",      "America/Caracas",
                                  "Africa/Cairo",        "UTC"};

struct Case {
  std::string zone;
  absl::Time run_start;
  absl::Duration length;
  v1::Window window;
};

class Generator {
 public:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  Case Next() {
    Case c;
    c.zone = kZones[Below(std::size(kZones))];
    c.run_start = absl::FromCivil(absl::CivilDay(1985, 1, 1), absl::UTCTimeZone()) +
                  absl::Seconds(Below(55ull * 365 * 86400));
    c.length = absl::Seconds(1 + Below(20ull * 86400));
    c.window.set_name("w");
    for (uint64_t n = 1 + Below(3); n > 0; --n) {
      v1::CivilInterval* interval = c.window.add_intervals();
      interval->set_start(TimeOfDay(1440));
      interval->set_end(TimeOfDay(1441));
    }
    if (Below(2) == 0) {
      for (int day = 1; day <= 7; ++day) {
        if (Below(2) == 0) c.window.add_days(static_cast<v1::Weekday>(day));
      }
    }
    for (uint64_t n = Below(4); n > 0; --n) {
      absl::CivilDay day = absl::ToCivilDay(c.run_start, absl::UTCTimeZone()) + Below(20);
      c.window.add_excluded_dates(absl::FormatCivilTime(day));
    }
    return c;
  }

 private:
  // Half of them between midnight and four, where clocks change.
  std::string TimeOfDay(uint64_t bound) {
    uint64_t minute = Below(Below(2) == 0 ? bound : 240);
    return absl::StrFormat("%02d:%02d:00", minute / 60, minute % 60);
  }

  std::mt19937_64 random_{20261201};
};

std::string LineOf(const Case& c) {
  auto interval = [](std::string* out, const v1::CivilInterval& i) {
    absl::StrAppend(out, i.start(), "-", i.end());
  };
  return absl::StrCat(c.zone, "|", absl::ToUnixSeconds(c.run_start), "|",
                      absl::ToInt64Seconds(c.length), "|", absl::StrJoin(c.window.days(), ","), "|",
                      absl::StrJoin(c.window.excluded_dates(), ","), "|",
                      absl::StrJoin(c.window.intervals(), ",", interval));
}

std::string Ours(const Case& c) {
  v1::Plan plan;
  plan.set_time_zone(c.zone);
  *plan.mutable_length() = ToProto(c.length);
  auto occurrences = Expand(c.window, plan, c.run_start);
  if (!occurrences.ok()) {
    return absl::StrContains(occurrences.status().message(), "overlap") ? "overlap" : "error";
  }
  return absl::StrJoin(*occurrences, " ", [](std::string* out, const Occurrence& o) {
    absl::StrAppend(out, absl::ToUnixSeconds(o.start), ",", absl::ToUnixSeconds(o.end), ",",
                    absl::FormatCivilTime(o.day));
  });
}

TEST(WindowOracleTest, AgreesWithZoneinfo) {
  Generator generator;
  std::vector<Case> cases;
  for (int i = 0; i < 4000; ++i) cases.push_back(generator.Next());
  std::string file = absl::StrCat(testing::TempDir(), "/assay_window_cases.", getpid());
  {
    std::ofstream out(file);
    for (const Case& c : cases) out << LineOf(c) << "\n";
  }

  std::string command =
      absl::StrCat("/usr/bin/python3 " ASSAY_SOURCE_DIR "/tests/core/window/oracle.py <", file);
  FILE* python = popen(command.c_str(), "r");
  ASSERT_NE(python, nullptr);
  std::vector<char> line(1 << 20);
  size_t compared = 0;
  size_t refused = 0;
  for (const Case& c : cases) {
    ASSERT_NE(fgets(line.data(), line.size(), python), nullptr) << "after " << compared;
    std::string expected(line.data());
    expected.pop_back();
    EXPECT_EQ(Ours(c), expected) << LineOf(c);
    ++compared;
    if (expected == "overlap") ++refused;
    if (testing::Test::HasFailure()) break;
  }
  pclose(python);
  remove(file.c_str());
  // Both kinds of answer were really compared.
  EXPECT_GT(refused, compared / 20);
  EXPECT_LT(refused, compared * 3 / 4);
}

}  // namespace
}  // namespace assay::window
