#include "core/schedule/timetable.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "core/schedule/jitter.h"
#include "core/window/window.h"

namespace assay::schedule {
namespace {

constexpr absl::Duration kApart = absl::Milliseconds(20);
// Places tried on each side before two tasks are left at the same moment.
constexpr int kPlacesTried = 16;

absl::Status TimetableError(absl::string_view id, const v1::Plan& plan, MessageArgs args) {
  args.emplace_back("at", "");
  args.emplace_back("plan", plan.name());
  return Error(absl::StatusCode::kInvalidArgument, id, args);
}

template <typename Message>
absl::StatusOr<std::map<std::string, const Message*>> Look(
    const v1::Plan& plan, const google::protobuf::RepeatedPtrField<std::string>& names,
    const std::vector<Message>& known, absl::string_view missing_id) {
  std::map<std::string, const Message*> found;
  for (const std::string& name : names) {
    auto it = std::find_if(known.begin(), known.end(),
                           [&](const Message& message) { return message.name() == name; });
    if (it == known.end()) return TimetableError(missing_id, plan, {{"name", name}});
    found[name] = &*it;
  }
  return found;
}

// One probe on one agent, against one server.
struct Series {
  const v1::Server* server;
  std::string vantage;      // empty: the server's own agent
  v1::Probe probe;          // with defaults
  absl::Duration expected;  // see Bounded()
  std::vector<std::string> windows;
};

// In whole milliseconds, and small enough to be multiplied by any number of repetitions.
absl::Duration Bounded(absl::Duration expected) {
  return std::min(absl::Ceil(expected, absl::Milliseconds(1)), window::kLongestRun * 2);
}

using Occurrences = std::map<std::string, std::vector<window::Occurrence>>;

class Builder {
 public:
  Builder(const v1::Plan& plan, uint64_t seed) : plan_(plan), seed_(seed) {}

  absl::StatusOr<Timetable> Build(const PlanContext& context, absl::Time run_start) {
    ASSAY_RETURN_IF_ERROR(OpenWindows(run_start));
    ASSAY_RETURN_IF_ERROR(ListSeries(context));
    ASSAY_RETURN_IF_ERROR(CheckSize());
    for (const Series& series : series_) Place(series);
    MoveApart();
    WriteOut();
    return std::move(timetable_);
  }

 private:
  // A task before it is written out. There may be millions, so names stay where they are.
  struct Placed {
    const Series* series;
    const std::string* window;
    const window::Occurrence* occurrence;
    absl::Time due;
  };

  void Warn(absl::string_view id, MessageArgs args) {
    args.emplace_back("plan", plan_.name());
    timetable_.warnings.push_back(MakeMessage(id, args));
  }

  absl::Status OpenWindows(absl::Time run_start) {
    for (const v1::Window& window : plan_.windows()) {
      ASSAY_ASSIGN_OR_RETURN(occurrences_[window.name()], window::Expand(window, plan_, run_start));
      if (occurrences_[window.name()].empty()) {
        Warn("schedule.window_never_opens", {{"window", window.name()}});
      }
    }
    return absl::OkStatus();
  }

  absl::Status ListSeries(const PlanContext& context) {
    ASSAY_ASSIGN_OR_RETURN(
        auto servers, Look(plan_, plan_.servers(), context.servers, "schedule.unknown_server"));
    ASSAY_ASSIGN_OR_RETURN(
        auto vantages, Look(plan_, plan_.vantages(), context.vantages, "schedule.unknown_vantage"));
    for (const v1::Probe& probe : plan_.probes()) {
      std::set<std::string> windows(probe.windows().begin(), probe.windows().end());
      for (const std::string& name : windows) {
        if (occurrences_.count(name) == 0) {
          return TimetableError("schedule.unknown_window", plan_,
                                {{"probe", probe.name()}, {"name", name}});
        }
      }
      if (windows.empty()) {
        for (const auto& [name, unused] : occurrences_) windows.insert(name);
      }
      std::set<std::string> agents;
      if (probe.from().server()) {
        agents.insert("");
      } else {
        for (const auto& [name, vantage] : vantages) {
          if (Selects(probe.from(), *vantage)) agents.insert(name);
        }
      }
      if (agents.empty()) Warn("schedule.no_vantage_selected", {{"probe", probe.name()}});
      for (const auto& [name, server] : servers) {
        v1::Probe full = WithDefaults(probe, *server);
        for (const std::string& agent : agents) {
          series_.push_back({server, agent, full, Bounded(ExpectedDuration(full)),
                             std::vector<std::string>(windows.begin(), windows.end())});
        }
      }
      WarnOfShortWindows(WithDefaults(probe, v1::Server()), windows);
    }
    // So that tasks of different series are ordered by where their series stand.
    std::sort(series_.begin(), series_.end(), [](const Series& a, const Series& b) {
      return std::make_tuple(a.server->name(), a.vantage, a.probe.name()) <
             std::make_tuple(b.server->name(), b.vantage, b.probe.name());
    });
    return absl::OkStatus();
  }

  void WarnOfShortWindows(const v1::Probe& probe, const std::set<std::string>& windows) {
    absl::Duration expected = ExpectedDuration(probe);
    for (const std::string& name : windows) {
      const auto& list = occurrences_[name];
      bool is_short = std::any_of(list.begin(), list.end(), [&](const window::Occurrence& o) {
        return o.end - o.start < expected;
      });
      if (!is_short) continue;
      Warn("schedule.probe_longer_than_window",
           {{"probe", probe.name()},
            {"window", name},
            {"seconds",
             absl::StrCat(absl::ToInt64Seconds(absl::Ceil(expected, absl::Seconds(1))))}});
    }
  }

  absl::Status CheckSize() {
    uint64_t count = 0;
    for (const Series& series : series_) {
      for (const std::string& window : series.windows) {
        // Both factors are below 2^32, and the sum stops at the limit: no overflow.
        count += uint64_t{series.probe.repetitions()} * occurrences_[window].size();
        if (count > kMostTasks) {
          return TimetableError("schedule.too_many_tasks", plan_,
                                {{"most", absl::StrCat(kMostTasks)}});
        }
      }
    }
    if (count == 0) return TimetableError("schedule.nothing_runs", plan_, {});
    placed_.reserve(count);
    return absl::OkStatus();
  }

  void Place(const Series& series) {
    Jitter of_series =
        Jitter(seed_).Fork(series.server->name()).Fork(series.vantage).Fork(series.probe.name());
    for (const std::string& window : series.windows) {
      for (const window::Occurrence& occurrence : occurrences_[window]) {
        uint64_t start = static_cast<uint64_t>(absl::ToUnixMillis(occurrence.start));
        PlaceInOccurrence(series, window, occurrence, of_series.Fork(window).Fork(start));
        timetable_.end = std::max(timetable_.end, occurrence.end);
      }
    }
  }

  void PlaceInOccurrence(const Series& series, const std::string& window,
                         const window::Occurrence& occurrence, Jitter jitter) {
    const int64_t length = absl::ToInt64Milliseconds(occurrence.end - occurrence.start);
    const int64_t expected = absl::ToInt64Milliseconds(series.expected);
    const int64_t repetitions = series.probe.repetitions();
    // Where repetitions fit one after the other, each has its slot to itself; else the starts are
    // spread over the time in which a start still fits.
    const bool roomy = expected * repetitions <= length;
    const int64_t spread = roomy ? length : std::max<int64_t>(length - expected, 0);
    for (int64_t i = 0; i < repetitions; ++i) {
      int64_t slot_start = spread * i / repetitions;
      int64_t slot_end = spread * (i + 1) / repetitions;
      int64_t room = std::max<int64_t>(slot_end - slot_start - (roomy ? expected : 0), 0);
      int64_t offset = slot_start + static_cast<int64_t>(jitter.Below(room));
      placed_.push_back(
          {&series, &window, &occurrence, occurrence.start + absl::Milliseconds(offset)});
    }
  }

  // The last moment at which a task should start: it ends with its window, or at least begins in
  // it.
  static absl::Time Latest(const Placed& placed) {
    const window::Occurrence& occurrence = *placed.occurrence;
    absl::Time latest = occurrence.end - placed.series->expected;
    return latest > occurrence.start ? latest : occurrence.end - absl::Milliseconds(1);
  }

  void Sort() {
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) {
      auto key = [](const Placed& p) {
        return std::tie(p.due, p.series, *p.window, p.occurrence->day);
      };
      return key(a) < key(b);
    });
  }

  // Nothing else is due on the same agent at the very same moment, as far as its window allows.
  void MoveApart() {
    Sort();
    std::map<std::string, std::unordered_set<int64_t>> taken;  // nanoseconds of Unix time
    for (Placed& placed : placed_) {
      const Series& series = *placed.series;
      auto& times = taken[series.vantage.empty() ? absl::StrCat("server/", series.server->name())
                                                 : series.vantage];
      if (times.insert(absl::ToUnixNanos(placed.due)).second) continue;
      for (int place = 1; place <= kPlacesTried; ++place) {
        absl::Time later = placed.due + kApart * place;
        absl::Time sooner = placed.due - kApart * place;
        if (later <= Latest(placed) && times.insert(absl::ToUnixNanos(later)).second) {
          placed.due = later;
          break;
        }
        if (sooner >= placed.occurrence->start && times.insert(absl::ToUnixNanos(sooner)).second) {
          placed.due = sooner;
          break;
        }
      }
    }
  }

  void WriteOut() {
    Sort();
    timetable_.tasks.reserve(placed_.size());
    for (const Placed& placed : placed_) {
      const Series& series = *placed.series;
      PlannedTask task;
      task.index = static_cast<uint32_t>(timetable_.tasks.size());
      task.server = series.server->name();
      task.vantage = series.vantage;
      task.probe = series.probe.name();
      task.window = *placed.window;
      task.day = placed.occurrence->day;
      task.due = placed.due;
      task.window_end = placed.occurrence->end;
      task.time_limit = TimeLimit(series.probe);
      timetable_.tasks.push_back(std::move(task));
    }
  }

  const v1::Plan& plan_;
  const uint64_t seed_;
  Occurrences occurrences_;  // by window
  std::vector<Series> series_;
  std::vector<Placed> placed_;
  Timetable timetable_{.tasks = {}, .end = absl::InfinitePast(), .warnings = {}};
};

}  // namespace

bool Selects(const v1::VantageSelector& selector, const v1::Vantage& vantage) {
  if (selector.server()) return false;
  auto has = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  return has(selector.kinds(), vantage.kind()) && has(selector.vantages(), vantage.name()) &&
         has(selector.carriers(), vantage.carrier());
}

absl::StatusOr<Timetable> MakeTimetable(const v1::Plan& plan, const PlanContext& context,
                                        absl::Time run_start, uint64_t seed) {
  return Builder(plan, seed).Build(context, run_start);
}

}  // namespace assay::schedule
