// apply and plan: what people write.
#include "cli/command/documents.h"

#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/command/commands.h"
#include "cli/render/identities.h"
#include "cli/render/timetable.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "core/document/reader.h"
#include "core/schedule/timetable.h"

namespace assay::cli {
namespace {

constexpr size_t kPreviewRows = 40;
constexpr uint64_t kPreviewSeed = 1;

struct ApplyOptions {
  std::vector<std::string> files;
  bool dry_run = false;
};

absl::StatusOr<int> Apply(const ApplyOptions& options, Session& session) {
  v1::ApplyRequest request;
  request.set_dry_run(options.dry_run);
  ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Document> documents, ReadFiles(options.files));
  for (v1::Document& document : documents) *request.add_documents() = std::move(document);
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::ApplyResponse response, coordinator->Apply(request));
  session.Print(render::Applied(response, options.dry_run, session.view));
  return kDone;
}

struct PreviewOptions {
  std::vector<std::string> files;
  std::string plan, start;
  bool all = false;
};

// What the plan names: from the files where they have it, else from the coordinator.
absl::StatusOr<schedule::PlanContext> ContextOf(const v1::Plan& plan,
                                                const std::vector<v1::Document>& documents,
                                                Session& session) {
  schedule::PlanContext context;
  std::set<std::string> servers, vantages;
  for (const v1::Document& document : documents) {
    if (document.has_server() && servers.insert(document.server().name()).second) {
      context.servers.push_back(document.server());
    }
    if (document.has_vantage() && vantages.insert(document.vantage().name()).second) {
      context.vantages.push_back(document.vantage());
    }
  }
  for (const std::string& name : plan.servers()) {
    if (!servers.insert(name).second) continue;
    ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
    ASSAY_ASSIGN_OR_RETURN(v1::Document document, coordinator->GetDocument("server", name));
    context.servers.push_back(document.server());
  }
  for (const std::string& name : plan.vantages()) {
    if (!vantages.insert(name).second) continue;
    ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
    ASSAY_ASSIGN_OR_RETURN(v1::Document document, coordinator->GetDocument("vantage", name));
    context.vantages.push_back(document.vantage());
  }
  return context;
}

absl::StatusOr<absl::Time> StartOf(const PreviewOptions& options, const Session& session) {
  if (options.start.empty()) return session.world.clock->Now();
  absl::Time time;
  std::string error;
  for (const char* format : {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", absl::RFC3339_full}) {
    if (absl::ParseTime(format, options.start, session.view.zone, &time, &error)) return time;
  }
  return Error(absl::StatusCode::kInvalidArgument, "cli.bad_time", {{"value", options.start}});
}

absl::StatusOr<int> Preview(const PreviewOptions& options, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Document> documents, ReadFiles(options.files));
  ASSAY_ASSIGN_OR_RETURN(absl::Time start, StartOf(options, session));
  bool found = false;
  for (const v1::Document& document : documents) {
    if (!document.has_plan()) continue;
    const v1::Plan& plan = document.plan();
    if (!options.plan.empty() && options.plan != plan.name()) continue;
    ASSAY_ASSIGN_OR_RETURN(schedule::PlanContext context, ContextOf(plan, documents, session));
    const bool drawn = plan.seed() == 0;
    ASSAY_ASSIGN_OR_RETURN(
        schedule::Timetable timetable,
        schedule::MakeTimetable(plan, context, start, drawn ? kPreviewSeed : plan.seed()));
    if (found && session.view.format == term::OutputFormat::kTable) session.Print("\n");
    session.Print(
        render::Timetable(plan, timetable, options.all ? 0 : kPreviewRows, drawn, session.view));
    found = true;
  }
  if (found) return kDone;
  if (options.plan.empty()) return Error(absl::StatusCode::kInvalidArgument, "cli.no_plan_in_file");
  return Error(absl::StatusCode::kInvalidArgument, "cli.plan_not_in_file",
               {{"plan", options.plan}});
}

}  // namespace

absl::StatusOr<std::vector<v1::Document>> ReadFiles(const std::vector<std::string>& paths) {
  std::vector<v1::Document> documents;
  for (const std::string& path : paths) {
    std::string text;
    if (path == "-") {
      text.assign(std::istreambuf_iterator<char>(std::cin), {});
    } else {
      absl::StatusOr<std::string> read = files::Read(path);
      if (!read.ok()) {
        // A file that isn't there was asked for wrongly.
        std::optional<v1::Message> message = MessageOf(read.status());
        if (!absl::IsNotFound(read.status()) || !message.has_value()) return read.status();
        return ErrorFromMessage(absl::StatusCode::kInvalidArgument, *message);
      }
      text = *std::move(read);
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<document::ReadDocument> read,
                           document::ReadDocuments(text, path == "-" ? "stdin" : path));
    for (document::ReadDocument& one : read) documents.push_back(std::move(one.document));
  }
  return documents;
}

void AddDocumentCommands(Registry registry) {
  auto apply = std::make_shared<ApplyOptions>();
  CLI::App* command =
      registry.Command("apply", [apply](Session& session) { return Apply(*apply, session); });
  command->add_option("-f,--file", apply->files, registry.Help("file"))
      ->required()
      ->type_name("FILE");
  command->add_flag("--dry-run", apply->dry_run, registry.Help("dry_run"));

  auto preview = std::make_shared<PreviewOptions>();
  command = registry.Group("plan").Command(
      "preview", [preview](Session& session) { return Preview(*preview, session); });
  command->add_option("-f,--file", preview->files, registry.Help("file"))
      ->required()
      ->type_name("FILE");
  command->add_option("--plan", preview->plan, registry.Help("plan"))->type_name("NAME");
  command->add_option("--start", preview->start, registry.Help("start"))->type_name("TIME");
  command->add_flag("--all", preview->all, registry.Help("all"));
}

}  // namespace assay::cli
