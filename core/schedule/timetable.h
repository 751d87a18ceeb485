// The timetable: every task of a run with the time it is due. A pure function of plan, time of
// start and seed, so that it can be previewed, and made again after a crash.
#ifndef ASSAY_CORE_SCHEDULE_TIMETABLE_H_
#define ASSAY_CORE_SCHEDULE_TIMETABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "assay/v1/message.pb.h"
#include "assay/v1/model.pb.h"

namespace assay::schedule {

struct PlannedTask {
  uint32_t index = 0;  // position in Timetable.tasks
  std::string server;
  std::string vantage;  // empty: on the server's own agent
  std::string probe;    // name in the plan
  std::string window;
  absl::CivilDay day;  // of the window's occurrence
  absl::Time due;
  // The task may start until this and must not start later.
  absl::Time window_end;
  // From the start of the probe; generous: a probe that takes longer has hung.
  absl::Duration time_limit;
};

struct Timetable {
  std::vector<PlannedTask> tasks;  // by due time, then server, vantage, probe, window
  absl::Time end;                  // of the last window used
  // Things to tell whoever starts or previews the run: a probe that selects no vantage, a window
  // that never opens, a probe that takes longer than a window.
  std::vector<v1::Message> warnings;
};

// What the plan names, looked up by the caller. Order does not matter.
struct PlanContext {
  std::vector<v1::Server> servers;
  std::vector<v1::Vantage> vantages;
};

// More tasks than this are refused.
constexpr uint64_t kMostTasks = 2'000'000;

// For each server, probe, agent (selected vantage, or the server itself) and occurrence of a
// window: as many tasks as the probe has repetitions.
//
// - Repetitions stand in equal slots of the occurrence, jittered within the slot by `seed`; where a
//   slot is as long as the probe's expected duration, the task ends within its slot, so that
//   repetitions do not overlap. A task is due early enough to end before the window does; where the
//   probe is longer than the window, at the window's start.
// - Tasks of one agent that would be due at the same moment are moved apart by some 20 ms, within
//   their window.
// - The jitter of a task depends on the seed and on what the task is, so that adding a probe or a
//   vantage leaves the other tasks where they were (but for tasks moved apart). The result is the
//   same on every platform. Times are whole milliseconds from the occurrence's start.
//
// INVALID_ARGUMENT where nothing would ever run, where the plan names a server, vantage or window
// that isn't there, and above kMostTasks; errors of window::Expand.
absl::StatusOr<Timetable> MakeTimetable(const v1::Plan& plan, const PlanContext& context,
                                        absl::Time run_start, uint64_t seed);

// Whether `vantage` is chosen by a probe's selector: every list that is given has it. Never by one
// that means the server itself.
bool Selects(const v1::VantageSelector& selector, const v1::Vantage& vantage);

// Defaults filled in: counts, intervals, time-outs and targets as model.proto documents them.
v1::Probe WithDefaults(const v1::Probe& probe, const v1::Server& server);

// How long the probe takes when everything answers within a second, and the limit after which it
// has hung. Of probes with defaults filled in.
absl::Duration ExpectedDuration(const v1::Probe& probe);
absl::Duration TimeLimit(const v1::Probe& probe);

}  // namespace assay::schedule

#endif  // ASSAY_CORE_SCHEDULE_TIMETABLE_H_
