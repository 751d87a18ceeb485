// What the coordinator says to agents about tasks.
#ifndef ASSAY_SERVER_DISPATCH_TASK_MESSAGES_H_
#define ASSAY_SERVER_DISPATCH_TASK_MESSAGES_H_

#include <cstdint>

#include "absl/time/time.h"
#include "assay/v1/agent.pb.h"
#include "server/store/records.h"

namespace assay::dispatch {

v1::TaskRef RefOf(const store::TaskRecord& task, uint32_t attempt);

v1::CoordinatorMessage CancelMessage(const v1::TaskRef& ref);

// The task, to run now: times in it are durations from `now`.
v1::CoordinatorMessage AssignmentMessage(const store::RunRecord& run, const store::TaskRecord& task,
                                         uint32_t attempt, absl::Time now);

}  // namespace assay::dispatch

#endif  // ASSAY_SERVER_DISPATCH_TASK_MESSAGES_H_
