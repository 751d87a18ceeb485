// local: a whole deployment on this machine, from a file to a verdict.
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "cli/command/commands.h"
#include "cli/command/documents.h"
#include "cli/command/watch.h"
#include "cli/local/household.h"
#include "cli/local/interrupt.h"
#include "cli/local/next_steps.h"
#include "cli/render/fields.h"
#include "cli/render/json.h"
#include "cli/render/verdict.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "core/verdict/json.h"

namespace assay::cli {
namespace {

constexpr absl::Duration kKeepStep = absl::Milliseconds(200);

struct LocalOptions {
  std::vector<std::string> files;
  std::string directory, plan;
  bool keep = false;
};

// What the files ask for.
struct Trial {
  std::vector<v1::Document> documents;
  v1::Plan plan;
  std::vector<Member> members;
};

absl::StatusOr<v1::Plan> ChoosePlan(const std::vector<v1::Document>& documents,
                                    const std::string& name) {
  std::vector<v1::Plan> plans;
  std::vector<std::string> names;
  for (const v1::Document& document : documents) {
    if (!document.has_plan()) continue;
    if (document.plan().name() == name) return document.plan();
    plans.push_back(document.plan());
    names.push_back(document.plan().name());
  }
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  if (plans.empty()) return Error(code, "cli.no_plan_in_file");
  if (!name.empty()) return Error(code, "cli.plan_not_in_file", {{"plan", name}});
  if (plans.size() > 1) {
    return Error(code, "cli.several_plans", {{"plans", absl::StrJoin(names, ", ")}});
  }
  return plans.front();
}

absl::StatusOr<Trial> ReadTrial(const LocalOptions& options) {
  Trial trial;
  ASSAY_ASSIGN_OR_RETURN(trial.documents, ReadFiles(options.files));
  ASSAY_ASSIGN_OR_RETURN(trial.plan, ChoosePlan(trial.documents, options.plan));
  std::set<std::string> labels;
  auto add = [&](v1::SubjectKind kind, const std::string& name) {
    Member member = {kind, name};
    if (labels.insert(member.Label()).second) trial.members.push_back(member);
  };
  for (const v1::Document& document : trial.documents) {
    if (document.has_server()) add(v1::SUBJECT_KIND_SERVER, document.server().name());
    if (document.has_vantage()) add(v1::SUBJECT_KIND_VANTAGE, document.vantage().name());
  }
  auto require = [&](v1::SubjectKind kind, const std::string& name) {
    if (labels.count(Member{kind, name}.Label()) > 0) return absl::OkStatus();
    return Error(absl::StatusCode::kInvalidArgument, "cli.local_missing",
                 {{"plan", trial.plan.name()}, {"name", name}});
  };
  for (const std::string& name : trial.plan.servers()) {
    ASSAY_RETURN_IF_ERROR(require(v1::SUBJECT_KIND_SERVER, name));
  }
  for (const std::string& name : trial.plan.vantages()) {
    ASSAY_RETURN_IF_ERROR(require(v1::SUBJECT_KIND_VANTAGE, name));
  }
  return trial;
}

// A new directory below the user's state, named by the time.
absl::StatusOr<std::string> NewDirectory(const Session& session) {
  const term::Environment& environment = session.world.environment;
  std::string base = environment("XDG_STATE_HOME").value_or("");
  if (base.empty()) base = absl::StrCat(environment("HOME").value_or(""), "/.local/state");
  absl::StrAppend(&base, "/assay");
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(base, 0700));
  std::string name =
      absl::FormatTime("local-%Y%m%d-%H%M%S", session.world.clock->Now(), session.view.zone);
  for (int attempt = 1;; ++attempt) {
    std::string path = absl::StrCat(base, "/", name);
    if (attempt > 1) absl::StrAppend(&path, "-", attempt);
    if (mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST || attempt > 1000) {
      return Error(absl::StatusCode::kInternal, "system.write_failed",
                   {{"path", path}, {"detail", strerror(errno)}});
    }
  }
}

void Step(const Session& session, absl::string_view id, const MessageArgs& args = {}) {
  if (session.world.terminal.interactive) session.Tell(id, args);
}

// Runs of an earlier trial in the same directory that was killed would run beside this one.
absl::Status CancelLeftovers(Coordinator& coordinator, const Session& session) {
  ASSAY_ASSIGN_OR_RETURN(v1::ListRunsResponse runs, coordinator.ListRuns({}));
  for (const v1::Run& run : runs.runs()) {
    if (run.state() != v1::RUN_STATE_ACTIVE) continue;
    session.Tell("cli.local_leftover", {{"run", run.id()}});
    ASSAY_RETURN_IF_ERROR(coordinator.CancelRun(run.id()).status());
  }
  return absl::OkStatus();
}

// Probes of the plan that an agent has said it cannot run well, and why.
absl::Status TellOfMissingCapabilities(const Trial& trial, Coordinator& coordinator,
                                       const Session& session) {
  std::set<std::string> used;
  for (const v1::Probe& probe : trial.plan.probes()) {
    const auto* field = v1::Probe::descriptor()->FindFieldByNumber(probe.kind_case());
    if (field != nullptr) used.insert(field->name());
  }
  ASSAY_ASSIGN_OR_RETURN(v1::ListAgentsResponse agents, coordinator.ListAgents());
  for (const v1::AgentInfo& agent : agents.agents()) {
    for (const v1::Capability& capability : agent.capabilities()) {
      if (capability.supported() || used.count(capability.probe()) == 0) continue;
      session.Tell("cli.local_capability", {{"agent", agent.subject()},
                                            {"probe", capability.probe()},
                                            {"reason", session.view.Say(capability.reason())}});
    }
  }
  return absl::OkStatus();
}

// The name alone where typing it starts this very file.
std::string AsTyped(const std::string& name, const std::string& path) {
  absl::StatusOr<std::string> found = subprocess::FindProgram(name);
  std::error_code error;
  if (found.ok() && std::filesystem::equivalent(*found, path, error) && !error) return name;
  return path;
}

// The worst decides: a rejected server, then one that is undecided.
int Worse(int a, int b) {
  auto rank = [](int code) { return code == kRejected ? 2 : code == kInconclusive ? 1 : 0; };
  return rank(a) >= rank(b) ? a : b;
}

absl::StatusOr<int> ShowVerdicts(const Trial& trial, const Household& household, const v1::Run& run,
                                 Coordinator& coordinator, Session& session) {
  int code = kDone;
  nlohmann::ordered_json json;
  json["run"] = run.id();
  json["directory"] = household.directory();
  json["database"] = household.database();
  json["context"] = household.context_directory();
  json["verdicts"] = nlohmann::ordered_json::array();
  bool first = true;
  for (const std::string& server : trial.plan.servers()) {
    ASSAY_ASSIGN_OR_RETURN(v1::Verdict verdict, coordinator.GetVerdict(server, run.id()));
    code = Worse(code, render::ExitCode(verdict.decision()));
    std::string text = render::Verdict(verdict, /*explain=*/false, session.view);
    switch (session.view.format) {
      case term::OutputFormat::kJson:
        json["verdicts"].push_back(verdict::ToJson(verdict, session.view.language));
        break;
      case term::OutputFormat::kCsv:
        // One heading for all servers.
        session.Print(first ? text : text.substr(std::min(text.find('\n') + 1, text.size())));
        break;
      case term::OutputFormat::kTable:
        session.Print(absl::StrCat("\n", text));
        break;
    }
    first = false;
  }
  if (session.view.format == term::OutputFormat::kJson) session.Print(render::Pretty(json));
  return code;
}

absl::StatusOr<int> RunTrial(const LocalOptions& options, const Trial& trial, Interrupt& interrupt,
                             Household& household, Session& session) {
  Step(session, "cli.local_coordinator", {{"dir", household.directory()}});
  ASSAY_RETURN_IF_ERROR(household.StartCoordinator());
  session.context_directory = household.context_directory();
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_RETURN_IF_ERROR(CancelLeftovers(*coordinator, session));
  for (const Member& member : trial.members) {
    Step(session, "cli.local_agent", {{"agent", member.Label()}});
    ASSAY_RETURN_IF_ERROR(household.StartAgent(member, *coordinator));
  }
  ASSAY_RETURN_IF_ERROR(household.AwaitAgents(trial.members, *coordinator));
  ASSAY_RETURN_IF_ERROR(TellOfMissingCapabilities(trial, *coordinator, session));

  v1::ApplyRequest apply;
  for (const v1::Document& document : trial.documents) *apply.add_documents() = document;
  ASSAY_RETURN_IF_ERROR(coordinator->Apply(apply).status());
  ASSAY_ASSIGN_OR_RETURN(v1::Run started, coordinator->StartRun(trial.plan.name()));
  for (const v1::Message& warning : started.warnings()) {
    session.Tell("cli.local_warning", {{"warning", session.view.Say(warning)}});
  }
  Step(session, "cli.local_run", {{"run", started.id()}});

  WatchOptions watch;
  watch.report = session.view.format == term::OutputFormat::kTable;
  watch.keep_on = [&]() -> absl::Status {
    if (interrupt.Requested()) return absl::CancelledError();
    return household.Check();
  };
  absl::StatusOr<v1::Run> run = WatchRun(session, *coordinator, started.id(), watch);
  if (!run.ok()) {
    coordinator->CancelRun(started.id()).status().IgnoreError();
    return run.status();
  }
  ASSAY_ASSIGN_OR_RETURN(int code, ShowVerdicts(trial, household, *run, *coordinator, session));

  NextSteps steps;
  steps.database = household.database();
  steps.logs = household.logs();
  steps.context = household.context_directory();
  steps.coordinator_directory = household.coordinator_directory();
  steps.assay = AsTyped("assay", household.programs().assay);
  steps.assayd = AsTyped("assayd", household.programs().assayd);
  steps.server = trial.plan.servers(0);
  steps.run = run->id();
  steps.running = options.keep;
  if (session.view.format == term::OutputFormat::kTable) {
    session.Print(absl::StrCat("\n", Render(steps, session.view)));
  }
  if (options.keep) {
    session.Tell("cli.local_kept");
    while (!interrupt.Requested()) {
      ASSAY_RETURN_IF_ERROR(household.Check());
      absl::SleepFor(kKeepStep);
    }
  }
  return code;
}

absl::StatusOr<int> Local(const LocalOptions& options, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Trial trial, ReadTrial(options));
  ASSAY_ASSIGN_OR_RETURN(Programs programs, FindPrograms());
  Interrupt interrupt;
  std::string directory = options.directory;
  if (directory.empty()) {
    ASSAY_ASSIGN_OR_RETURN(directory, NewDirectory(session));
  }
  ASSAY_ASSIGN_OR_RETURN(Household household,
                         Household::Open(directory, programs, [&interrupt]() -> absl::Status {
                           return interrupt.Requested() ? absl::CancelledError() : absl::OkStatus();
                         }));
  absl::StatusOr<int> code = RunTrial(options, trial, interrupt, household, session);
  household.Stop();
  if (!code.ok() && interrupt.Requested()) {
    session.Tell("cli.local_interrupted", {{"dir", household.directory()}});
    return kInconclusive;
  }
  return code;
}

}  // namespace

void AddLocalCommand(Registry registry) {
  auto options = std::make_shared<LocalOptions>();
  CLI::App* command =
      registry.Command("local", [options](Session& session) { return Local(*options, session); });
  command->add_option("-f,--file", options->files, registry.Help("file"))
      ->required()
      ->type_name("FILE");
  command->add_option("--dir", options->directory, registry.Help("local_dir"))->type_name("DIR");
  command->add_option("--plan", options->plan, registry.Help("plan"))->type_name("NAME");
  command->add_flag("--keep", options->keep, registry.Help("keep"));
}

}  // namespace assay::cli
