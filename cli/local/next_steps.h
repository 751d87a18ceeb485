// What a local trial leaves behind, and what to type to look at it.
#ifndef ASSAY_CLI_LOCAL_NEXT_STEPS_H_
#define ASSAY_CLI_LOCAL_NEXT_STEPS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "cli/render/view.h"

namespace assay::cli {

struct NextSteps {
  std::string database, logs, context, coordinator_directory;
  std::string assay, assayd;  // as they are to be typed
  std::string server;         // the first one
  std::string run;
  bool running = false;  // the coordinator still is
};

std::string Render(const NextSteps& steps, const render::View& view);

// One word for a POSIX shell: itself where nothing in it is special, else in single quotes.
std::string ShellWord(absl::string_view word);

}  // namespace assay::cli

#endif  // ASSAY_CLI_LOCAL_NEXT_STEPS_H_
