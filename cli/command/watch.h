// Follows a run until it ends.
#ifndef ASSAY_CLI_COMMAND_WATCH_H_
#define ASSAY_CLI_COMMAND_WATCH_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/control.pb.h"
#include "cli/command/session.h"

namespace assay::cli {

struct WatchOptions {
  // Asked about four times a second; its error ends the watch and is returned.
  std::function<absl::Status()> keep_on = [] { return absl::OkStatus(); };
  // Print what ends. Without it nothing is printed in a pipe.
  bool report = true;
};

// Redrawn on a terminal; in a pipe one line an ended task. A connection that is lost is made again
// until the run ends. Returns the run as it ended.
absl::StatusOr<v1::Run> WatchRun(Session& session, Coordinator& coordinator, const std::string& run,
                                 const WatchOptions& options = {});

}  // namespace assay::cli

#endif  // ASSAY_CLI_COMMAND_WATCH_H_
