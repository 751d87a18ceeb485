// assay: Assay's command for people.
#include <signal.h>

#include <string>
#include <vector>

#include "cli/command/app.h"
#include "common/clock/clock.h"
#include "common/rpc/library_log.h"

int main(int argc, char** argv) {
  assay::rpc::QuietLibraryLog();
  signal(SIGPIPE, SIG_IGN);
  assay::SystemClock clock;
  return assay::cli::Main(std::vector<std::string>(argv + 1, argv + argc),
                          assay::cli::SystemWorld(&clock));
}
