// verdict.
#include "cli/render/verdict.h"

#include <memory>
#include <string>

#include "cli/command/commands.h"
#include "common/base/status_macros.h"

namespace assay::cli {
namespace {

struct VerdictOptions {
  std::string server, run;
  bool explain = false;
};

absl::StatusOr<int> ShowVerdict(const VerdictOptions& options, Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Coordinator * coordinator, session.Connect());
  ASSAY_ASSIGN_OR_RETURN(v1::Verdict verdict, coordinator->GetVerdict(options.server, options.run));
  session.Print(render::Verdict(verdict, options.explain, session.view));
  return render::ExitCode(verdict.decision());
}

}  // namespace

void AddVerdictCommand(Registry registry) {
  auto options = std::make_shared<VerdictOptions>();
  CLI::App* command = registry.Command(
      "verdict", [options](Session& session) { return ShowVerdict(*options, session); });
  command->add_option("SERVER", options->server, registry.Help("server_name"))
      ->required()
      ->type_name("");
  command->add_option("--run", options->run, registry.Help("run_of_verdict"))->type_name("RUN");
  command->add_flag("--explain", options->explain, registry.Help("explain"));
}

}  // namespace assay::cli
