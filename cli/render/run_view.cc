#include "cli/render/run_view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/render/json.h"
#include "cli/render/results.h"
#include "cli/render/runs.h"
#include "common/term/output.h"
#include "common/term/width.h"

namespace assay::render {
namespace {

constexpr int kBar = 24;
constexpr size_t kLastLines = 6;
constexpr int kRunningShown = 8;
constexpr size_t kBarsShown = 12;

bool HasEnded(v1::TaskState state) {
  return state == v1::TASK_STATE_DONE || state == v1::TASK_STATE_FAILED ||
         state == v1::TASK_STATE_MISSED || state == v1::TASK_STATE_CANCELLED;
}

std::string Padded(const std::string& text, int width) {
  return absl::StrCat(text, std::string(std::max(width - term::DisplayWidth(text), 0), ' '));
}

std::string Heading(absl::string_view id, const View& view) {
  return absl::StrCat(term::Paint(view.Say(id), term::Style::kBold, view.terminal.colour), "\n");
}

// Tasks of one window from one vantage.
struct Progress {
  absl::Time first_due = absl::InfiniteFuture();
  uint32_t total = 0;
  uint32_t ended = 0;
  std::map<v1::TaskState, uint32_t> lost;  // failed, missed, cancelled
};

std::string Bars(const std::map<uint32_t, v1::Task>& tasks, const View& view) {
  std::map<std::pair<std::string, std::string>, Progress> groups;
  for (const auto& [index, task] : tasks) {
    Progress& group =
        groups[{task.window(), task.vantage().empty() ? task.server() : task.vantage()}];
    group.first_due = std::min(group.first_due, FromProto(task.due_at()));
    ++group.total;
    if (!HasEnded(task.state())) continue;
    ++group.ended;
    if (task.state() != v1::TASK_STATE_DONE) ++group.lost[task.state()];
  }
  using Entry = std::pair<std::pair<std::string, std::string>, Progress>;
  std::vector<Entry> order(groups.begin(), groups.end());
  std::stable_sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
    return a.second.first_due < b.second.first_due;
  });
  int window_width = 0, place_width = 0;
  for (const auto& [key, group] : order) {
    window_width = std::max(window_width, term::DisplayWidth(key.first));
    place_width = std::max(place_width, term::DisplayWidth(key.second));
  }
  std::string out;
  size_t shown = 0;
  for (const auto& [key, group] : order) {
    // With many groups, those that are complete and well say nothing new.
    bool dull = group.ended == group.total && group.lost.empty();
    if (order.size() > kBarsShown && (dull || shown == kBarsShown)) continue;
    ++shown;
    std::string lost;
    for (const auto& [state, count] : group.lost) {
      absl::StrAppend(&lost, "  ",
                      term::Paint(absl::StrCat(count, " ", EnumText(state, view)), StyleOf(state),
                                  view.terminal.colour));
    }
    absl::StrAppend(&out, "  ", Padded(key.first, window_width), "  ",
                    Padded(key.second, place_width), "  [",
                    Bar(static_cast<double>(group.ended) / group.total, kBar), "] ", group.ended,
                    "/", group.total, lost, "\n");
  }
  return out;
}

}  // namespace

std::vector<v1::Task> RunView::TakeEnded(
    const google::protobuf::RepeatedPtrField<v1::Task>& tasks) {
  std::vector<v1::Task> fresh;
  for (const v1::Task& task : tasks) {
    tasks_[task.index()] = task;
    if (HasEnded(task.state()) && reported_.insert(task.index()).second) fresh.push_back(task);
  }
  return fresh;
}

std::vector<v1::Task> RunView::Reset(const v1::GetRunResponse& snapshot) {
  run_ = snapshot.run();
  last_.Clear();
  return TakeEnded(snapshot.tasks());
}

std::vector<v1::Task> RunView::Apply(const v1::RunProgress& progress) {
  run_ = progress.run();
  last_ = progress;
  last_.clear_ended();
  return TakeEnded(progress.ended());
}

void RunView::Remember(std::string line) {
  lines_.push_back(std::move(line));
  if (lines_.size() > kLastLines) lines_.pop_front();
}

std::string RunView::Block(absl::Time now, const View& view) const {
  const v1::TaskCounts& counts = run_.counts();
  uint32_t ended = counts.done() + counts.failed() + counts.missed() + counts.cancelled();
  std::string out = absl::StrCat(
      term::Paint(view.Say("cli.watch_heading", {{"run", run_.id()},
                                                 {"plan", run_.plan()},
                                                 {"state", EnumText(run_.state(), view)},
                                                 {"ended", absl::StrCat(ended)},
                                                 {"total", absl::StrCat(counts.total())}}),
                  term::Style::kBold, view.terminal.colour),
      "\n", Bars(tasks_, view));
  if (!last_.running().empty()) absl::StrAppend(&out, Heading("cli.watch_running", view));
  for (int i = 0; i < last_.running_size() && i < kRunningShown; ++i) {
    const v1::Task& task = last_.running(i);
    double fraction = i < last_.fractions_size() ? last_.fractions(i) : 0;
    absl::StrAppend(&out, "  [", Bar(fraction, kBar), "] ",
                    absl::StrFormat("%3.0f %%", 100 * std::clamp(fraction, 0.0, 1.0)), "  ",
                    task.probe(), "  ", Path(task.vantage(), task.server()), "  ", task.window(),
                    "\n");
  }
  if (last_.running_size() > kRunningShown) {
    absl::StrAppend(&out, "  … +", last_.running_size() - kRunningShown, "\n");
  }
  if (!lines_.empty()) absl::StrAppend(&out, Heading("cli.watch_last", view));
  for (const std::string& line : lines_) absl::StrAppend(&out, "  ", line, "\n");
  if (over()) return out;
  std::string to_end = FormatSpan(FromProto(run_.planned_end_at()) - now);
  if (last_.has_next_due_at()) {
    absl::StrAppend(
        &out,
        view.Say("cli.watch_next",
                 {{"next", FormatSpan(FromProto(last_.next_due_at()) - now)}, {"end", to_end}}),
        "\n");
  } else {
    absl::StrAppend(&out, view.Say("cli.watch_end", {{"end", to_end}}), "\n");
  }
  return out;
}

std::string EndedTaskHeading(const View& view) {
  if (view.format != term::OutputFormat::kCsv) return "";
  return term::CsvRow({"task", "task_state", "server", "vantage", "probe", "window", "due",
                       "result", "figures", "reason"});
}

std::string EndedTask(const v1::Task& task, const v1::StoredResult& result, absl::Time now,
                      const View& view) {
  if (view.format == term::OutputFormat::kJson) {
    nlohmann::ordered_json json = ToJson(task, view.language);
    json["metrics"] = nlohmann::ordered_json::array();
    for (const v1::Metric& metric : result.metrics()) {
      json["metrics"].push_back(ToJson(metric, view.language));
    }
    return Line(json);
  }
  std::string reason = task.has_reason() ? view.Say(task.reason()) : "";
  std::string figures = result.id() == 0 ? "" : Headline(result, view);
  if (view.format == term::OutputFormat::kCsv) {
    return term::CsvRow({absl::StrCat(task.index()), EnumName(task.state()), task.server(),
                         task.vantage(), task.probe(), task.window(), MachineTime(task.due_at()),
                         task.result_id() == 0 ? "" : absl::StrCat(task.result_id()), figures,
                         reason});
  }
  absl::Time at = result.has_received_at() ? FromProto(result.received_at()) : now;
  std::string line = absl::StrCat(
      FormatClock(at, view), "  ",
      term::Paint(EnumText(task.state(), view), StyleOf(task.state()), view.terminal.colour), "  ",
      task.probe(), "  ", Path(task.vantage(), task.server()), "  ", task.window());
  std::string tail = task.state() == v1::TASK_STATE_DONE && !figures.empty() ? figures : reason;
  if (!tail.empty()) absl::StrAppend(&line, "  ", term::Printable(tail));
  return line + "\n";
}

std::string RunEnded(const v1::Run& run, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Line(ToJson(run, view.language));
  if (view.format == term::OutputFormat::kCsv) return "";
  const v1::TaskCounts& counts = run.counts();
  return view.Say("cli.run_ended", {{"run", run.id()},
                                    {"state", EnumText(run.state(), view)},
                                    {"done", absl::StrCat(counts.done())},
                                    {"failed", absl::StrCat(counts.failed())},
                                    {"missed", absl::StrCat(counts.missed())},
                                    {"cancelled", absl::StrCat(counts.cancelled())}}) +
         "\n";
}

}  // namespace assay::render
