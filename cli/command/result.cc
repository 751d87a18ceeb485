// result: list, show.
#include <memory>
#include <string>

#include "cli/command/commands.h"
#include "cli/render/results.h"
#include "common/base/status_macros.h"

namespace assay::cli {
namespace {

absl::StatusOr<int> ListResults(const v1::ListResultsRequest& request, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::ListResultsResponse results, coordinator->ListResults(request));
  session.Print(render::Results(results, session.view));
  return kDone;
}

absl::StatusOr<int> ShowResult(int64_t id, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::StoredResult result, coordinator->GetResult(id));
  session.Print(render::Result(result, session.view));
  return kDone;
}

struct ListResultsOptions {
  std::string run, server, vantage;
  uint32_t limit = 0;
  int64_t before = 0;
};

}  // namespace

void AddResultCommands(Registry registry) {
  Registry results = registry.Group("result");

  auto list = std::make_shared<ListResultsOptions>();
  CLI::App* command = results.Command("list", [list](Session& session) {
    v1::ListResultsRequest request;
    request.set_run(list->run);
    request.set_server(list->server);
    request.set_vantage(list->vantage);
    request.set_limit(list->limit);
    request.set_before_id(list->before);
    return ListResults(request, session);
  });
  command->add_option("--run", list->run, registry.Help("run_filter"))->type_name("RUN");
  command->add_option("--server", list->server, registry.Help("server_filter"))->type_name("NAME");
  command->add_option("--vantage", list->vantage, registry.Help("vantage_filter"))
      ->type_name("NAME");
  command->add_option("--limit", list->limit, registry.Help("limit"))->type_name("N");
  command->add_option("--before", list->before, registry.Help("before"))->type_name("ID");

  auto id = std::make_shared<int64_t>();
  command = results.Command("show", [id](Session& session) { return ShowResult(*id, session); });
  command->add_option("ID", *id, registry.Help("result_id"))->required()->type_name("");
}

}  // namespace assay::cli
