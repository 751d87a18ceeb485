// What holds for the timetable of any plan, over random plans.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/proto_time.h"
#include "core/schedule/timetable.h"
#include "core/window/window.h"

namespace assay::schedule {
namespace {

struct Trial {
  v1::Plan plan;
  PlanContext context;
  absl::Time start;
};

class TrialGenerator {
 public:
  Trial Next() {
    Trial trial;
    trial.start = absl::UnixEpoch() + absl::Seconds(Below(4'000'000'000)) +
                  absl::Nanoseconds(Below(1'000'000'000));
    trial.plan.set_name("p");
    trial.plan.set_time_zone(Below(2) == 0 ? "Asia/Shanghai" : "America/New_York");
    *trial.plan.mutable_length() = ToProto(absl::Hours(1 + Below(200)));
    for (uint64_t i = 1 + Below(2); i > 0; --i) {
      v1::Server& server = trial.context.servers.emplace_back();
      server.set_name(absl::StrCat("s", i));
      server.add_addresses("192.0.2.1");
      trial.plan.add_servers(server.name());
    }
    for (uint64_t i = Below(5); i > 0; --i) {
      v1::Vantage& vantage = trial.context.vantages.emplace_back();
      vantage.set_name(absl::StrCat("v", i));
      vantage.set_kind(static_cast<v1::VantageKind>(1 + Below(5)));
      vantage.set_carrier(Carrier());
      if (Below(4) != 0) trial.plan.add_vantages(vantage.name());
    }
    for (uint64_t i = 1 + Below(3); i > 0; --i) AddWindow(absl::StrCat("w", i), &trial.plan);
    for (uint64_t i = 1 + Below(4); i > 0; --i) AddProbe(absl::StrCat("p", i), &trial.plan);
    return trial;
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  const char* Carrier() { return Below(2) == 0 ? "telecom" : "unicom"; }

  void AddWindow(const std::string& name, v1::Plan* plan) {
    v1::Window* window = plan->add_windows();
    window->set_name(name);
    if (Below(3) == 0) {
      *window->mutable_relative()->mutable_after() = ToProto(absl::Milliseconds(Below(100'000)));
      *window->mutable_relative()->mutable_length() =
          ToProto(absl::Milliseconds(1 + Below(60'000)));
      return;
    }
    v1::CivilInterval* interval = window->add_intervals();
    interval->set_start(absl::StrFormat("%02d:%02d", Below(24), Below(60)));
    interval->set_end(absl::StrFormat("%02d:%02d", Below(24), Below(60)));
    if (Below(3) == 0) window->add_days(static_cast<v1::Weekday>(1 + Below(7)));
  }

  void AddProbe(const std::string& name, v1::Plan* plan) {
    v1::Probe* probe = plan->add_probes();
    probe->set_name(name);
    probe->set_repetitions(static_cast<uint32_t>(Below(30)));
    uint32_t count = static_cast<uint32_t>(Below(400));
    switch (Below(3)) {
      case 0:
        probe->mutable_icmp()->set_count(count);
        break;
      case 1:
        probe->mutable_tcp()->set_count(count);
        break;
      default:
        probe->mutable_http()->set_count(count);
    }
    switch (Below(4)) {
      case 0:
        probe->mutable_from()->set_server(true);
        break;
      case 1:
        probe->mutable_from()->add_carriers(Carrier());
        break;
      case 2:
        probe->mutable_from()->add_kinds(static_cast<v1::VantageKind>(1 + Below(5)));
        break;
      default:
        break;
    }
    if (Below(2) == 0) probe->add_windows(plan->windows(Below(plan->windows_size())).name());
  }

  std::mt19937_64 random_{31};
};

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, absl::Time>;

std::vector<window::Occurrence> Open(const v1::Window& window, const Trial& trial) {
  auto occurrences = window::Expand(window, trial.plan, trial.start);
  EXPECT_TRUE(occurrences.ok()) << occurrences.status();
  return *std::move(occurrences);
}

// What must be there, counted from the plan in the plainest way.
std::map<Key, uint64_t> Expected(const Trial& trial) {
  std::map<Key, uint64_t> counts;
  for (const auto& server : trial.plan.servers()) {
    for (const auto& probe : trial.plan.probes()) {
      std::set<std::string> agents;
      if (probe.from().server()) agents.insert("");
      for (const auto& vantage : trial.context.vantages) {
        bool in_plan = false;
        for (const auto& name : trial.plan.vantages()) in_plan |= name == vantage.name();
        const auto& from = probe.from();
        bool fits = !from.server() && (from.kinds().empty() || from.kinds(0) == vantage.kind()) &&
                    (from.carriers().empty() || from.carriers(0) == vantage.carrier());
        if (in_plan && fits) agents.insert(vantage.name());
      }
      for (const auto& window : trial.plan.windows()) {
        if (!probe.windows().empty() && probe.windows(0) != window.name()) continue;
        for (const auto& o : Open(window, trial)) {
          for (const auto& agent : agents) {
            counts[{server, agent, probe.name(), window.name(), absl::FormatCivilTime(o.day),
                    o.end}] = std::max(probe.repetitions(), 1u);
          }
        }
      }
    }
  }
  return counts;
}

auto Line(const PlannedTask& t) {
  return std::make_tuple(t.index, t.server, t.vantage, t.probe, t.window, t.day, t.due,
                         t.window_end, t.time_limit);
}

TEST(TimetablePropertyTest, HoldForRandomPlans) {
  TrialGenerator generator;
  int made = 0;
  int differing_seeds = 0;
  int with_room = 0;
  for (int i = 0; i < 500; ++i) {
    Trial trial = generator.Next();
    std::map<Key, uint64_t> expected = Expected(trial);
    auto timetable = MakeTimetable(trial.plan, trial.context, trial.start, i);
    if (expected.empty()) {
      ASSERT_FALSE(timetable.ok()) << trial.plan.DebugString();
      continue;
    }
    ASSERT_TRUE(timetable.ok()) << timetable.status() << trial.plan.DebugString();
    ++made;

    std::map<Key, uint64_t> counts;
    std::map<std::string, absl::Duration> durations;
    for (const auto& probe : trial.plan.probes()) {
      durations[probe.name()] = ExpectedDuration(WithDefaults(probe, trial.context.servers[0]));
    }
    std::map<Key, absl::Time> starts;  // of occurrences
    for (const auto& window : trial.plan.windows()) {
      for (const auto& o : Open(window, trial)) {
        starts[{"", "", "", window.name(), absl::FormatCivilTime(o.day), o.end}] = o.start;
      }
    }
    absl::Time end = absl::InfinitePast();
    for (size_t n = 0; n < timetable->tasks.size(); ++n) {
      const PlannedTask& t = timetable->tasks[n];
      ASSERT_EQ(t.index, n);
      if (n > 0) {
        const PlannedTask& before = timetable->tasks[n - 1];
        ASSERT_LE(std::tie(before.due, before.server, before.vantage, before.probe),
                  std::tie(t.due, t.server, t.vantage, t.probe));
      }
      std::string day = absl::FormatCivilTime(t.day);
      ++counts[{t.server, t.vantage, t.probe, t.window, day, t.window_end}];
      absl::Time start = starts.at({"", "", "", t.window, day, t.window_end});
      ASSERT_GE(t.due, start);
      ASSERT_LT(t.due, t.window_end);
      if (t.window_end - start > durations[t.probe]) {
        ASSERT_LE(t.due + durations[t.probe], t.window_end);
      }
      ASSERT_GT(t.time_limit, durations[t.probe]);
      end = std::max(end, t.window_end);
    }
    ASSERT_EQ(counts, expected) << trial.plan.DebugString();
    ASSERT_EQ(timetable->end, end);

    auto lines = [](const Timetable& table) {
      std::vector<decltype(Line(table.tasks[0]))> all;
      for (const PlannedTask& t : table.tasks) all.push_back(Line(t));
      return all;
    };
    // The same from the same, whatever the order in which the context lists things.
    std::reverse(trial.context.vantages.begin(), trial.context.vantages.end());
    std::reverse(trial.context.servers.begin(), trial.context.servers.end());
    auto again = MakeTimetable(trial.plan, trial.context, trial.start, i);
    ASSERT_EQ(lines(*timetable), lines(*again));
    // Another seed moves things wherever there is any room.
    auto other = MakeTimetable(trial.plan, trial.context, trial.start, i + 1'000'000);
    bool room = false;
    for (const PlannedTask& t : timetable->tasks) {
      absl::Time start =
          starts.at({"", "", "", t.window, absl::FormatCivilTime(t.day), t.window_end});
      room |= t.window_end - start > durations[t.probe] + absl::Minutes(10);
    }
    with_room += room;
    differing_seeds += room && lines(*timetable) != lines(*other);
  }
  EXPECT_GT(made, 200);
  EXPECT_GT(with_room, 100);
  EXPECT_EQ(differing_seeds, with_room);
}

}  // namespace
}  // namespace assay::schedule
