#include "cli/command/session.h"

#include <unistd.h>

#include <cstdio>

#include "common/base/status_macros.h"

namespace assay::cli {
namespace {

void Write(FILE* stream, absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

World SystemWorld(const Clock* clock) {
  World world;
  world.out = [](absl::string_view text) { Write(stdout, text); };
  world.err = [](absl::string_view text) { Write(stderr, text); };
  world.environment = term::SystemEnvironment();
  world.terminal = term::Inspect(STDOUT_FILENO, world.environment);
  world.out_fd = STDOUT_FILENO;
  world.zone = absl::LocalTimeZone();
  world.clock = clock;
  world.connect = [](const std::string& directory,
                     absl::Duration timeout) -> absl::StatusOr<std::unique_ptr<Coordinator>> {
    ASSAY_ASSIGN_OR_RETURN(Context context, LoadContext(directory));
    return Coordinator::Connect(context, timeout);
  };
  return world;
}

absl::StatusOr<Coordinator*> Session::Connect() {
  if (coordinator_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(coordinator_, world.connect(context_directory, timeout));
  }
  return coordinator_.get();
}

void Session::Tell(absl::string_view id, const MessageArgs& args) const {
  if (view.format != term::OutputFormat::kTable) return;
  world.err(view.Say(id, args) + "\n");
}

}  // namespace assay::cli
