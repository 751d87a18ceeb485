// Runs and their tasks.
#ifndef ASSAY_CLI_RENDER_RUNS_H_
#define ASSAY_CLI_RENDER_RUNS_H_

#include <string>

#include "assay/v1/control.pb.h"
#include "cli/render/view.h"

namespace assay::render {

std::string Runs(const v1::ListRunsResponse& runs, const View& view);
// After `run start` or `run cancel`.
std::string Run(const v1::Run& run, const View& view);
// The run and its tasks: those that are not done first, with their reasons.
std::string RunWithTasks(const v1::GetRunResponse& response, const View& view);

// "sz-office → hk-gpu-01", or "hk-gpu-01" for a task on the server itself.
std::string Path(const std::string& vantage, const std::string& server);

term::Style StyleOf(v1::TaskState state);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_RUNS_H_
