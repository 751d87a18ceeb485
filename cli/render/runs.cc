#include "cli/render/runs.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/render/fields.h"
#include "cli/render/grid.h"
#include "cli/render/json.h"

namespace assay::render {
namespace {

uint32_t Ended(const v1::TaskCounts& counts) {
  return counts.done() + counts.failed() + counts.missed() + counts.cancelled();
}

void AddCounts(const v1::TaskCounts& counts, Fields& fields, const View& view) {
  fields.Add("tasks",
             view.Say("cli.task_counts", {{"ended", absl::StrCat(Ended(counts))},
                                          {"total", absl::StrCat(counts.total())},
                                          {"done", absl::StrCat(counts.done())},
                                          {"failed", absl::StrCat(counts.failed())},
                                          {"missed", absl::StrCat(counts.missed())},
                                          {"cancelled", absl::StrCat(counts.cancelled())}}),
             absl::StrCat(counts.total()));
}

std::string Warnings(const v1::Run& run, const View& view) {
  std::string out;
  for (const v1::Message& warning : run.warnings()) {
    absl::StrAppend(&out, Warning(view.Say(warning), view));
  }
  return out;
}

// What needs attention comes first, then what is yet to come.
int Order(v1::TaskState state) {
  switch (state) {
    case v1::TASK_STATE_FAILED:
      return 0;
    case v1::TASK_STATE_MISSED:
      return 1;
    case v1::TASK_STATE_CANCELLED:
      return 2;
    case v1::TASK_STATE_LEASED:
      return 3;
    case v1::TASK_STATE_PENDING:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

std::string Path(const std::string& vantage, const std::string& server) {
  return vantage.empty() ? server : absl::StrCat(vantage, " → ", server);
}

term::Style StyleOf(v1::TaskState state) {
  switch (state) {
    case v1::TASK_STATE_DONE:
      return term::Style::kGood;
    case v1::TASK_STATE_FAILED:
      return term::Style::kBad;
    case v1::TASK_STATE_MISSED:
    case v1::TASK_STATE_CANCELLED:
      return term::Style::kWarning;
    default:
      return term::Style::kPlain;
  }
}

std::string Runs(const v1::ListRunsResponse& runs, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(runs, view.language));
  if (runs.runs().empty() && view.format == term::OutputFormat::kTable) {
    return view.Say("cli.no_runs") + "\n";
  }
  Grid grid({{"run"},
             {"plan"},
             {"run_state"},
             {"ended_tasks", kRight},
             {"done", kRight},
             {"failed", kRight},
             {"missed", kRight},
             {"started"},
             {"run_end"},
             {"started_by"}});
  for (const v1::Run& run : runs.runs()) {
    const v1::TaskCounts& counts = run.counts();
    const google::protobuf::Timestamp& end =
        run.has_ended_at() ? run.ended_at() : run.planned_end_at();
    grid.AddRow({run.id(),
                 run.plan(),
                 {EnumText(run.state(), view), EnumName(run.state())},
                 {absl::StrCat(Ended(counts), "/", counts.total()),
                  absl::StrCat(Ended(counts), "/", counts.total())},
                 absl::StrCat(counts.done()),
                 absl::StrCat(counts.failed()),
                 absl::StrCat(counts.missed()),
                 {FormatTime(run.started_at(), view), MachineTime(run.started_at())},
                 {FormatTime(end, view), MachineTime(end)},
                 run.started_by()});
  }
  return grid.Render(view);
}

std::string Run(const v1::Run& run, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(run, view.language));
  Fields fields;
  fields.Add("run", run.id());
  fields.Add("plan", run.plan());
  fields.Add("run_state", EnumText(run.state(), view), EnumName(run.state()));
  fields.Add("servers", absl::StrJoin(run.servers(), ", "), absl::StrJoin(run.servers(), " "));
  AddCounts(run.counts(), fields, view);
  fields.Add("started", FormatTime(run.started_at(), view), MachineTime(run.started_at()));
  if (run.has_ended_at()) {
    fields.Add("ended", FormatTime(run.ended_at(), view), MachineTime(run.ended_at()));
  } else {
    fields.Add("planned_end", FormatTime(run.planned_end_at(), view),
               MachineTime(run.planned_end_at()));
  }
  std::string out = fields.Render(view);
  if (view.format == term::OutputFormat::kTable) absl::StrAppend(&out, Warnings(run, view));
  return out;
}

std::string RunWithTasks(const v1::GetRunResponse& response, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(response, view.language));
  Grid grid({{"task", kRight},
             {"task_state"},
             {"due"},
             {"path", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kTable},
             {"vantage", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
             {"server", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
             {"probe"},
             {"window"},
             {"result", kRight},
             {"reason", term::Align::kLeft, term::Overflow::kWrap}});
  std::vector<const v1::Task*> tasks;
  for (const v1::Task& task : response.tasks()) tasks.push_back(&task);
  if (view.format == term::OutputFormat::kTable) {
    std::stable_sort(tasks.begin(), tasks.end(), [](const v1::Task* a, const v1::Task* b) {
      return Order(a->state()) < Order(b->state());
    });
  }
  for (const v1::Task* task : tasks) {
    std::string result = task->result_id() == 0 ? "" : absl::StrCat(task->result_id());
    grid.AddRow({absl::StrCat(task->index()),
                 {EnumText(task->state(), view), EnumName(task->state()), StyleOf(task->state())},
                 {FormatTime(task->due_at(), view), MachineTime(task->due_at())},
                 Path(task->vantage(), task->server()),
                 task->vantage(),
                 task->server(),
                 task->probe(),
                 task->window(),
                 result,
                 task->has_reason() ? view.Say(task->reason()) : ""});
  }
  if (view.format == term::OutputFormat::kCsv) return grid.Render(view);
  std::string out = Run(response.run(), view);
  if (!grid.empty()) absl::StrAppend(&out, "\n", grid.Render(view));
  return out;
}

}  // namespace assay::render
