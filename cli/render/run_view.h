// A run as it goes: what has ended, what runs, what comes next.
//
// Fed with a snapshot and then with what WatchRun sends. Both may repeat tasks, after a lost
// connection for example: each ended task is reported once.
#ifndef ASSAY_CLI_RENDER_RUN_VIEW_H_
#define ASSAY_CLI_RENDER_RUN_VIEW_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "assay/v1/control.pb.h"
#include "cli/render/view.h"

namespace assay::render {

class RunView {
 public:
  // All tasks, at the start and after a reconnect. Returns those ended that were not returned
  // before, by index.
  std::vector<v1::Task> Reset(const v1::GetRunResponse& snapshot);
  // The same for one message of the stream.
  std::vector<v1::Task> Apply(const v1::RunProgress& progress);
  // A line about an ended task that Block() shows under "last results".
  void Remember(std::string line);

  const v1::Run& run() const { return run_; }
  bool over() const { return run_.state() != v1::RUN_STATE_ACTIVE; }

  // The view that is redrawn: bars, running tasks, last results, time to go. `now` by the
  // coordinator's clock.
  std::string Block(absl::Time now, const View& view) const;

 private:
  std::vector<v1::Task> TakeEnded(const google::protobuf::RepeatedPtrField<v1::Task>& tasks);

  v1::Run run_;
  std::map<uint32_t, v1::Task> tasks_;  // by index
  std::set<uint32_t> reported_;
  v1::RunProgress last_;
  std::deque<std::string> lines_;
};

// One line for an ended task: "21:00:03 done  echo  sz-office → hk-gpu-01  peak  figures". `result`
// may be empty. By view.format: a line of text, of JSON, or a CSV record.
std::string EndedTask(const v1::Task& task, const v1::StoredResult& result, absl::Time now,
                      const View& view);
// The record that comes before CSV records of EndedTask(); "" in other formats.
std::string EndedTaskHeading(const View& view);
// The last line: how the run ended.
std::string RunEnded(const v1::Run& run, const View& view);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_RUN_VIEW_H_
