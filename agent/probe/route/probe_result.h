// What the route probes have in common: ends of a measurement as results.
#ifndef ASSAY_AGENT_PROBE_ROUTE_PROBE_RESULT_H_
#define ASSAY_AGENT_PROBE_ROUTE_PROBE_RESULT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/probe/probe.h"
#include "assay/v1/result.pb.h"
#include "common/base/message.h"

namespace assay::agent::route {

// The frame of a result: when it began, by both clocks, and until when it may last.
class Measurement {
 public:
  // A time limit of zero or less: none.
  explicit Measurement(absl::Duration time_limit);

  int64_t begin_ns() const { return begin_ns_; }        // monotonic
  int64_t deadline_ns() const { return deadline_ns_; }  // monotonic, INT64_MAX: none

  // OUTCOME_OK with its evidence; OUTCOME_FAILED if that cannot be packed.
  v1::Result Measured(const v1::Evidence& evidence) const;
  // Nothing was measured. Not measurable here: what this host does not allow (PERMISSION_DENIED) or
  // does not have (UNAVAILABLE). Anything else failed.
  v1::Result Without(const absl::Status& why) const;
  v1::Result NotMeasurable(const v1::Message& why) const;

 private:
  v1::Result Frame(v1::Outcome outcome) const;

  absl::Time begin_;
  int64_t begin_ns_;
  int64_t deadline_ns_;
};

// "Connection refused" for ECONNREFUSED.
std::string ErrnoText(int error);

// INVALID_ARGUMENT: `name` must be `allowed`.
absl::Status BadParameter(absl::string_view name, absl::string_view value,
                          absl::string_view allowed);

// INVALID_ARGUMENT unless `value` is between `low` and `high`; the name is the document's key.
absl::Status CheckCount(absl::string_view name, uint64_t value, uint64_t low, uint64_t high);
absl::Status CheckDuration(absl::string_view name, absl::Duration value, absl::Duration low,
                           absl::Duration high);

}  // namespace assay::agent::route

#endif  // ASSAY_AGENT_PROBE_ROUTE_PROBE_RESULT_H_
