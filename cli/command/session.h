// What a command has at hand: its output, the reader's wishes, and the coordinator when asked for.
#ifndef ASSAY_CLI_COMMAND_SESSION_H_
#define ASSAY_CLI_COMMAND_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cli/coordinator/context.h"
#include "cli/coordinator/coordinator.h"
#include "cli/render/view.h"
#include "common/clock/clock.h"
#include "common/term/output.h"
#include "common/term/terminal.h"

namespace assay::cli {

// Exit codes of every command.
enum ExitCode {
  kDone = 0,  // or accepted
  kRejected = 1,
  kUsage = 2,
  kInconclusive = 3,
  kNotPossible = 4,  // could not reach, or not allowed
};

// The outside world of the program. Tests give their own.
struct World {
  std::function<void(absl::string_view)> out;
  std::function<void(absl::string_view)> err;
  term::Environment environment;
  // Of standard output; `out_fd` is where what is redrawn goes.
  term::Terminal terminal;
  int out_fd = 1;
  absl::TimeZone zone;
  const Clock* clock = nullptr;
  std::function<absl::StatusOr<std::unique_ptr<Coordinator>>(const std::string& context_directory,
                                                             absl::Duration timeout)>
      connect;
};

// The real one: standard streams, environment, local time zone.
World SystemWorld(const Clock* clock);

class Session {
 public:
  explicit Session(const World& world) : world(world) {}

  // Connected on first use; the same one afterwards.
  absl::StatusOr<Coordinator*> Connect();
  void Print(absl::string_view text) const { world.out(text); }
  // A sentence beside the output, on standard error, for people: not where --output is for
  // programs.
  void Tell(absl::string_view id, const MessageArgs& args = {}) const;

  const World& world;
  render::View view;
  std::string context_directory;
  absl::Duration timeout;

 private:
  std::unique_ptr<Coordinator> coordinator_;
};

// What a command does once the line is understood: an exit code, or why it could not.
using Action = std::function<absl::StatusOr<int>(Session&)>;

}  // namespace assay::cli

#endif  // ASSAY_CLI_COMMAND_SESSION_H_
