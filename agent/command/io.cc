#include "agent/command/io.h"

#include <unistd.h>

#include <iostream>

namespace assay::command {

Io SystemIo(Language language) {
  term::Environment environment = term::SystemEnvironment();
  return Io{.out = std::cout,
            .err = std::cerr,
            .out_terminal = term::Inspect(STDOUT_FILENO, environment),
            .err_terminal = term::Inspect(STDERR_FILENO, environment),
            .err_fd = STDERR_FILENO,
            .language = language};
}

}  // namespace assay::command
