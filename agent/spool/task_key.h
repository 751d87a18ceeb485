// A TaskRef that orders, compares and prints.
#ifndef ASSAY_AGENT_SPOOL_TASK_KEY_H_
#define ASSAY_AGENT_SPOOL_TASK_KEY_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "assay/v1/agent.pb.h"

namespace assay::spool {

struct TaskKey {
  std::string run;
  uint32_t task = 0;
  uint32_t attempt = 0;

  auto operator<=>(const TaskKey&) const = default;

  static TaskKey Of(const v1::TaskRef& ref) { return {ref.run(), ref.task(), ref.attempt()}; }
  v1::TaskRef ToRef() const {
    v1::TaskRef ref;
    ref.set_run(run);
    ref.set_task(task);
    ref.set_attempt(attempt);
    return ref;
  }
  // "20261201-k3f/17, attempt 1", for log lines.
  std::string ToString() const { return absl::StrCat(run, "/", task, ", attempt ", attempt); }
};

}  // namespace assay::spool

#endif  // ASSAY_AGENT_SPOOL_TASK_KEY_H_
