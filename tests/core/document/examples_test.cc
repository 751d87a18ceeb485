// The plans under deploy/examples are what people begin with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "common/base/message.h"
#include "core/document/check.h"
#include "core/document/reader.h"
#include "core/schedule/timetable.h"

namespace assay::document {
namespace {

struct Example {
  v1::Plan plan;
  v1::Profile profile;
  schedule::PlanContext context;
};

Example Load(const std::string& name) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR "/deploy/examples/") + name);
  std::stringstream text;
  text << file.rdbuf();
  auto documents = ReadDocuments(text.str(), name);
  EXPECT_TRUE(documents.ok()) << documents.status();
  Example example;
  if (!documents.ok()) return example;
  for (const ReadDocument& read : *documents) {
    const v1::Document& document = read.document;
    if (document.has_server()) example.context.servers.push_back(document.server());
    if (document.has_vantage()) example.context.vantages.push_back(document.vantage());
    if (document.has_profile()) example.profile = document.profile();
    if (document.has_plan()) example.plan = document.plan();
  }
  return example;
}

absl::Time Noon(int year, int month, int day) {
  return absl::FromCivil(absl::CivilHour(year, month, day, 12), absl::UTCTimeZone());
}

TEST(ExamplesTest, QuickstartEndsInThreeQuartersOfAMinute) {
  Example example = Load("quickstart.yaml");
  const absl::Time start = Noon(2026, 12, 1);

  auto timetable = schedule::MakeTimetable(example.plan, example.context, start, 1);

  ASSERT_TRUE(timetable.ok()) << timetable.status();
  EXPECT_TRUE(timetable->warnings.empty());
  EXPECT_LE(timetable->end - start, absl::Seconds(45));
  // Each repetition has time for itself, so that runs of one probe are apart.
  std::map<std::string, absl::Time> last;
  for (const schedule::PlannedTask& task : timetable->tasks) {
    for (const v1::Probe& probe : example.plan.probes()) {
      if (probe.name() != task.probe) continue;
      auto before = last.find(task.vantage + "/" + task.probe);
      if (before != last.end()) {
        EXPECT_GE(task.due, before->second) << task.probe;
      }
      last[task.vantage + "/" + task.probe] =
          task.due +
          schedule::ExpectedDuration(schedule::WithDefaults(probe, example.context.servers[0]));
    }
  }
}

TEST(ExamplesTest, QuickstartHasEnoughSamplesForItsThresholds) {
  Example example = Load("quickstart.yaml");
  auto timetable = schedule::MakeTimetable(example.plan, example.context, Noon(2026, 12, 1), 1);
  ASSERT_TRUE(timetable.ok());
  std::map<std::pair<std::string, std::string>, int> runs;
  for (const auto& task : timetable->tasks) ++runs[{task.probe, task.window}];

  // Rule of three with a factor for having to estimate the variance between ten runs.
  constexpr double kFactor = 1.4;
  for (const char* window : {"peak", "off-peak"}) {
    EXPECT_GT((runs[{"echo", window}] * 100), kFactor * 3.7 / 0.01);
    EXPECT_GT((runs[{"web-port", window}] * 40), kFactor * 3.7 / 0.02);
    EXPECT_GT((runs[{"web", window}] * 12), kFactor * 3.7 / 0.05);
  }
}

TEST(ExamplesTest, HongKongRouteHasFiveWorkingDays) {
  Example example = Load("hong-kong-route.yaml");
  EXPECT_TRUE(CheckAgainstPlan(example.profile, example.plan).ok())
      << CheckAgainstPlan(example.profile, example.plan);

  for (int day = 1; day <= 7; ++day) {  // whatever the day it starts on
    auto timetable = schedule::MakeTimetable(example.plan, example.context, Noon(2026, 12, day), 1);
    ASSERT_TRUE(timetable.ok()) << timetable.status();
    EXPECT_TRUE(timetable->warnings.empty());
    std::map<std::string, std::set<absl::CivilDay>> days;
    for (const auto& task : timetable->tasks) days[task.window].insert(task.day);
    EXPECT_GE(days["evening"].size(), 5u);
    EXPECT_GE(days["morning"].size(), 5u);
  }
}

}  // namespace
}  // namespace assay::document
