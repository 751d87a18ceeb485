// Where a command writes, and what it knows of the reader.
#ifndef ASSAY_AGENT_COMMAND_IO_H_
#define ASSAY_AGENT_COMMAND_IO_H_

#include <ostream>

#include "common/base/message.h"
#include "common/term/output.h"
#include "common/term/terminal.h"

namespace assay::command {

// As the design fixes them for every program.
enum ExitCode { kDone = 0, kUsage = 2, kNotMeasured = 4 };

struct Io {
  std::ostream& out;
  std::ostream& err;
  term::Terminal out_terminal;
  term::Terminal err_terminal;
  int err_fd;  // for progress
  Language language;
};

// Standard output and error of this process.
Io SystemIo(Language language);

}  // namespace assay::command

#endif  // ASSAY_AGENT_COMMAND_IO_H_
