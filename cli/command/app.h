// The `assay` command: parses the line, runs one command, says in one line what went wrong.
#ifndef ASSAY_CLI_COMMAND_APP_H_
#define ASSAY_CLI_COMMAND_APP_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/command/session.h"

namespace assay::cli {

// `arguments` without the program's name. Returns the exit code.
int Main(const std::vector<std::string>& arguments, const World& world);

// The exit code of a command that failed: 2 for what was asked wrongly, 4 for everything else.
int ExitCodeOf(const absl::Status& status);

}  // namespace assay::cli

#endif  // ASSAY_CLI_COMMAND_APP_H_
