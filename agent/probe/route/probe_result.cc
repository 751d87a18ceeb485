#include "agent/probe/route/probe_result.h"

#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/probe/route/echo_engine.h"
#include "common/base/proto_time.h"
#include "core/evidence/derive.h"

namespace assay::agent::route {

Measurement::Measurement(absl::Duration time_limit)
    : begin_(absl::Now()), begin_ns_(MonotonicNowNs()), deadline_ns_(INT64_MAX) {
  if (time_limit > absl::ZeroDuration() && time_limit < absl::Hours(24 * 365)) {
    deadline_ns_ = begin_ns_ + absl::ToInt64Nanoseconds(time_limit);
  }
}

v1::Result Measurement::Frame(v1::Outcome outcome) const {
  v1::Result result;
  result.set_outcome(outcome);
  *result.mutable_started_at() = ToProto(begin_);
  // By the monotonic clock: a clock that is set meanwhile must not give a result that ends before
  // it began.
  *result.mutable_finished_at() = ToProto(begin_ + absl::Nanoseconds(MonotonicNowNs() - begin_ns_));
  result.set_origin(v1::ORIGIN_MEASURED);
  return result;
}

v1::Result Measurement::Measured(const v1::Evidence& evidence) const {
  absl::StatusOr<std::string> packed = evidence::Pack(evidence);
  if (!packed.ok()) return Without(packed.status());
  v1::Result result = Frame(v1::OUTCOME_OK);
  result.set_evidence_zstd(*packed);
  return result;
}

v1::Result Measurement::Without(const absl::Status& why) const {
  bool refused_here = why.code() == absl::StatusCode::kPermissionDenied ||
                      why.code() == absl::StatusCode::kUnavailable;
  v1::Result result = Frame(refused_here ? v1::OUTCOME_NOT_MEASURABLE : v1::OUTCOME_FAILED);
  std::optional<v1::Message> message = MessageOf(why);
  if (message) {
    *result.mutable_reason() = *message;
  } else {
    *result.mutable_reason() = MakeMessage("probe.broke", {{"detail", std::string(why.message())}});
  }
  return result;
}

v1::Result Measurement::NotMeasurable(const v1::Message& why) const {
  v1::Result result = Frame(v1::OUTCOME_NOT_MEASURABLE);
  *result.mutable_reason() = why;
  return result;
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

absl::Status BadParameter(absl::string_view name, absl::string_view value,
                          absl::string_view allowed) {
  return Error(absl::StatusCode::kInvalidArgument, "probe.bad_parameter",
               {{"name", std::string(name)},
                {"value", std::string(value)},
                {"allowed", std::string(allowed)}});
}

absl::Status CheckCount(absl::string_view name, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return BadParameter(name, absl::StrCat(value), absl::StrCat(low, "-", high));
}

absl::Status CheckDuration(absl::string_view name, absl::Duration value, absl::Duration low,
                           absl::Duration high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return BadParameter(name, absl::FormatDuration(value),
                      absl::StrCat(absl::FormatDuration(low), "-", absl::FormatDuration(high)));
}

}  // namespace assay::agent::route
