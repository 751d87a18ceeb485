// run: start, watch, list, show, cancel.
#include <memory>
#include <string>

#include "cli/command/commands.h"
#include "cli/command/watch.h"
#include "cli/render/runs.h"
#include "common/base/status_macros.h"

namespace assay::cli {
namespace {

absl::StatusOr<int> WatchToTheEnd(const std::string& run, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::Run ended, WatchRun(session, *coordinator, run));
  return ended.state() == v1::RUN_STATE_FINISHED ? kDone : kInconclusive;
}

struct StartOptions {
  std::string plan;
  bool watch = false;
};

absl::StatusOr<int> Start(const StartOptions& options, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::Run run, coordinator->StartRun(options.plan));
  const bool table = session.view.format == term::OutputFormat::kTable;
  if (!options.watch || table) session.Print(render::Run(run, session.view));
  if (options.watch) return WatchToTheEnd(run.id(), session);
  session.Tell("cli.run_started_hint", {{"run", run.id()}});
  return kDone;
}

struct ListOptions {
  std::string plan;
  uint32_t limit = 0;
};

absl::StatusOr<int> List(const ListOptions& options, Session& session) {
  v1::ListRunsRequest request;
  request.set_plan(options.plan);
  request.set_limit(options.limit);
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::ListRunsResponse runs, coordinator->ListRuns(request));
  session.Print(render::Runs(runs, session.view));
  return kDone;
}

absl::StatusOr<int> Show(const std::string& run, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::GetRunResponse response, coordinator->GetRun(run));
  session.Print(render::RunWithTasks(response, session.view));
  return kDone;
}

absl::StatusOr<int> Cancel(const std::string& run, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::Run cancelled, coordinator->CancelRun(run));
  session.Print(render::Run(cancelled, session.view));
  return kDone;
}

}  // namespace

void AddRunCommands(Registry registry) {
  Registry runs = registry.Group("run");

  auto start = std::make_shared<StartOptions>();
  CLI::App* command =
      runs.Command("start", [start](Session& session) { return Start(*start, session); });
  command->add_option("PLAN", start->plan, registry.Help("plan_name"))->required()->type_name("");
  command->add_flag("--watch", start->watch, registry.Help("watch"));

  auto list = std::make_shared<ListOptions>();
  command = runs.Command("list", [list](Session& session) { return List(*list, session); });
  command->add_option("--plan", list->plan, registry.Help("plan"))->type_name("NAME");
  command->add_option("--limit", list->limit, registry.Help("limit"))->type_name("N");

  struct {
    const char* name;
    absl::StatusOr<int> (*act)(const std::string&, Session&);
  } const of_one_run[] = {{"watch", WatchToTheEnd}, {"show", Show}, {"cancel", Cancel}};
  for (const auto& entry : of_one_run) {
    auto run = std::make_shared<std::string>();
    command = runs.Command(entry.name,
                           [run, act = entry.act](Session& session) { return act(*run, session); });
    command->add_option("RUN", *run, registry.Help("run_id"))->required()->type_name("");
  }
}

}  // namespace assay::cli
