#include "server/dispatch/task_messages.h"

#include <string>

#include "common/base/proto_time.h"

namespace assay::dispatch {
namespace {

// The probe as the plan has it. The plan was checked when it was applied, so the name is there.
const v1::Probe* FindProbe(const v1::Plan& plan, const std::string& name) {
  for (const v1::Probe& probe : plan.probes()) {
    if (probe.name() == name) return &probe;
  }
  return nullptr;
}

}  // namespace

v1::TaskRef RefOf(const store::TaskRecord& task, uint32_t attempt) {
  v1::TaskRef ref;
  ref.set_run(task.run);
  ref.set_task(task.index);
  ref.set_attempt(attempt);
  return ref;
}

v1::CoordinatorMessage CancelMessage(const v1::TaskRef& ref) {
  v1::CoordinatorMessage message;
  *message.mutable_cancel()->mutable_ref() = ref;
  return message;
}

v1::CoordinatorMessage AssignmentMessage(const store::RunRecord& run, const store::TaskRecord& task,
                                         uint32_t attempt, absl::Time now) {
  v1::CoordinatorMessage message;
  v1::Assignment& assignment = *message.mutable_assignment();
  *assignment.mutable_ref() = RefOf(task, attempt);
  assignment.set_server(task.server);
  for (const v1::Server& server : run.servers) {
    if (server.name() != task.server) continue;
    *assignment.mutable_server_addresses() = server.addresses();
  }
  if (const v1::Probe* probe = FindProbe(run.plan, task.probe))
    *assignment.mutable_probe() = *probe;
  *assignment.mutable_start_within() = ToProto(task.window_end - now);
  *assignment.mutable_time_limit() = ToProto(task.time_limit);
  return message;
}

}  // namespace assay::dispatch
