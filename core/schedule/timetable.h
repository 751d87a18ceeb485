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
  std::vector<PlannedTask> tasks;  // by due time, then server, vantage, probe
  absl::Time end;                  // of the last window used
};

// What the plan names, looked up by the caller.
struct PlanContext {
  std::vector<v1::Server> servers;
  std::vector<v1::Vantage> vantages;
};

// Repetitions are spread evenly over each occurrence of a window with jitter from `seed`; each task
// is due early enough that its expected duration fits before the window's end, where the window is
// long enough. INVALID_ARGUMENT where nothing would ever run.
absl::StatusOr<Timetable> MakeTimetable(const v1::Plan& plan, const PlanContext& context,
                                        absl::Time run_start, uint64_t seed);

// Whether `vantage` is chosen by a probe's selector.
bool Selects(const v1::VantageSelector& selector, const v1::Vantage& vantage);

// Defaults filled in: counts, intervals, time-outs and targets as model.proto documents them.
v1::Probe WithDefaults(const v1::Probe& probe, const v1::Server& server);

// How long the probe takes when everything answers, and the limit after which it has hung.
absl::Duration ExpectedDuration(const v1::Probe& probe);
absl::Duration TimeLimit(const v1::Probe& probe);

}  // namespace assay::schedule

#endif  // ASSAY_CORE_SCHEDULE_TIMETABLE_H_
