#include "cli/render/timetable.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "cli/render/fields.h"
#include "cli/render/grid.h"
#include "cli/render/json.h"
#include "cli/render/runs.h"

namespace assay::render {
namespace {

struct WindowDay {
  absl::Time first = absl::InfiniteFuture();
  absl::Time last = absl::InfinitePast();
  size_t tasks = 0;
  std::set<std::string> vantages;
};

std::string Summary(const schedule::Timetable& timetable, const View& view) {
  std::map<std::pair<absl::CivilDay, std::string>, WindowDay> days;
  for (const schedule::PlannedTask& task : timetable.tasks) {
    WindowDay& day = days[{task.day, task.window}];
    day.first = std::min(day.first, task.due);
    day.last = std::max(day.last, task.due);
    day.vantages.insert(task.vantage);
    ++day.tasks;
  }
  Grid grid(
      {{"day"}, {"window"}, {"first_task"}, {"last_task"}, {"tasks", kRight}, {"agents", kRight}});
  using Entry = std::pair<std::pair<absl::CivilDay, std::string>, WindowDay>;
  std::vector<Entry> order(days.begin(), days.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const Entry& a, const Entry& b) { return a.second.first < b.second.first; });
  for (const auto& [key, day] : order) {
    grid.AddRow({absl::FormatCivilTime(key.first), key.second, FormatTime(day.first, view),
                 FormatTime(day.last, view), absl::StrCat(day.tasks),
                 absl::StrCat(day.vantages.size())});
  }
  return grid.Render(view);
}

nlohmann::ordered_json Json(const v1::Plan& plan, const schedule::Timetable& timetable,
                            bool seed_is_drawn, const View& view) {
  nlohmann::ordered_json json;
  json["plan"] = plan.name();
  json["seed_is_drawn"] = seed_is_drawn;
  json["end"] = MachineTime(ToProto(timetable.end));
  json["tasks"] = nlohmann::ordered_json::array();
  for (const schedule::PlannedTask& task : timetable.tasks) {
    json["tasks"].push_back({{"index", task.index},
                             {"due", MachineTime(ToProto(task.due))},
                             {"server", task.server},
                             {"vantage", task.vantage},
                             {"probe", task.probe},
                             {"window", task.window},
                             {"day", absl::FormatCivilTime(task.day)},
                             {"window_end", MachineTime(ToProto(task.window_end))}});
  }
  json["warnings"] = nlohmann::ordered_json::array();
  for (const v1::Message& warning : timetable.warnings) {
    json["warnings"].push_back(ToJson(warning, view.language));
  }
  return json;
}

}  // namespace

std::string Timetable(const v1::Plan& plan, const schedule::Timetable& timetable, size_t most,
                      bool seed_is_drawn, const View& view) {
  if (view.format == term::OutputFormat::kJson) {
    return Pretty(Json(plan, timetable, seed_is_drawn, view));
  }
  const bool table = view.format == term::OutputFormat::kTable;
  Grid grid(
      {{"plan", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
       {"task", kRight},
       {"due"},
       {"window"},
       {"path", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kTable},
       {"vantage", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
       {"server", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
       {"probe"},
       {"window_end", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv}});
  size_t shown = 0;
  for (const schedule::PlannedTask& task : timetable.tasks) {
    if (table && most > 0 && shown == most) break;
    grid.AddRow({plan.name(),
                 absl::StrCat(task.index),
                 {FormatTime(task.due, view), MachineTime(ToProto(task.due))},
                 task.window,
                 Path(task.vantage, task.server),
                 task.vantage,
                 task.server,
                 task.probe,
                 MachineTime(ToProto(task.window_end))});
    ++shown;
  }
  if (!table) return grid.Render(view);
  std::string out = term::Paint(view.Say("cli.preview_heading", {{"plan", plan.name()}}),
                                term::Style::kBold, view.terminal.colour);
  absl::StrAppend(&out, "\n\n", grid.Render(view));
  if (shown < timetable.tasks.size()) {
    absl::StrAppend(
        &out,
        view.Say("cli.preview_more", {{"count", absl::StrCat(timetable.tasks.size() - shown)}}),
        "\n");
  }
  absl::StrAppend(&out, "\n", Summary(timetable, view), "\n",
                  view.Say("cli.preview_total", {{"tasks", absl::StrCat(timetable.tasks.size())},
                                                 {"end", FormatTime(timetable.end, view)}}),
                  "\n");
  if (seed_is_drawn) absl::StrAppend(&out, view.Say("cli.preview_seed"), "\n");
  for (const v1::Message& warning : timetable.warnings) {
    absl::StrAppend(&out, Warning(view.Say(warning), view));
  }
  return out;
}

}  // namespace assay::render
