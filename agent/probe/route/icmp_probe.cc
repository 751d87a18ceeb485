#include "agent/probe/route/icmp_probe.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/probe/route/echo_engine.h"
#include "agent/probe/route/probe_result.h"
#include "agent/probe/route/resolve.h"
#include "agent/probe/route/route_probes.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"

namespace assay::agent {
namespace route {
namespace {

constexpr uint32_t kDefaultEchoCount = 100;
constexpr uint32_t kMaxEchoCount = 1'000'000;
constexpr uint32_t kDefaultPayloadBytes = 56;
constexpr absl::Duration kDefaultEchoInterval = absl::Milliseconds(50);
// Faster would be a flood, not a probe.
constexpr absl::Duration kMinEchoInterval = absl::Milliseconds(1);
constexpr absl::Duration kDefaultEchoTimeout = absl::Seconds(2);

void AddNotes(const EchoEngine& engine, const EchoSession::Outcome& outcome,
              const v1::IcmpProbe& parameters, v1::Result* result) {
  std::string settled = absl::StrCat(outcome.evidence.rtt_ns_size());
  if (outcome.truncated) {
    result->add_marks(v1::MARK_TRUNCATED);
    *result->add_notes() = MakeMessage(
        "probe.cut_short", {{"settled", settled}, {"count", absl::StrCat(parameters.count())}});
  }
  if (outcome.user_timed > 0) {
    *result->add_notes() = MakeMessage(
        "probe.user_timestamps", {{"count", absl::StrCat(outcome.user_timed)}, {"sent", settled}});
  }
  if (engine.clock_steps() > 0) {
    *result->add_notes() =
        MakeMessage("probe.clock_stepped", {{"count", absl::StrCat(engine.clock_steps())}});
  }
}

absl::Status NothingSettled(EchoEngine::End end, const ProbeRequest& request,
                            const v1::IcmpProbe& parameters) {
  if (end == EchoEngine::End::kCancelled) {
    return Error(absl::StatusCode::kCancelled, "probe.cancelled");
  }
  return Error(absl::StatusCode::kDeadlineExceeded, "probe.too_little_time",
               {{"limit", absl::FormatDuration(request.time_limit)},
                {"timeout", absl::FormatDuration(FromProto(parameters.timeout()))}});
}

absl::StatusOr<v1::Result> MeasureEcho(const ProbeRequest& request, const ProbeControl& control,
                                       SocketPreference preference,
                                       const Measurement& measurement) {
  ASSAY_ASSIGN_OR_RETURN(v1::IcmpProbe parameters, WithDefaults(request.probe.icmp()));
  ASSAY_ASSIGN_OR_RETURN(ResolvedTarget target,
                         ResolveTarget(parameters.target(), parameters.family(), request, control,
                                       measurement.deadline_ns()));
  EchoTarget echo{
      .address = target.address,
      .plan = {.count = parameters.count(),
               .interval_ns = absl::ToInt64Nanoseconds(FromProto(parameters.interval())),
               .timeout_ns = absl::ToInt64Nanoseconds(FromProto(parameters.timeout())),
               .payload_bytes = parameters.payload_bytes()},
      .dscp = static_cast<uint8_t>(parameters.dscp())};
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<EchoEngine> engine, EchoEngine::Open({echo}, preference));
  EchoEngine::End end = engine->Run({.cancelled = control.cancelled,
                                     .deadline_ns = measurement.deadline_ns(),
                                     .progress = control.progress});
  EchoSession::Outcome outcome = engine->Outcome(0, measurement.begin_ns());
  if (outcome.evidence.rtt_ns_size() == 0) {
    if (end != EchoEngine::End::kDone) return NothingSettled(end, request, parameters);
    return measurement.NotMeasurable(MakeMessage(
        "probe.nothing_sent",
        {{"address", target.numeric}, {"detail", ErrnoText(outcome.evidence.send_errno())}}));
  }
  v1::Evidence evidence;
  *evidence.mutable_icmp() = outcome.evidence;
  evidence.mutable_icmp()->set_address(target.numeric);
  *evidence.mutable_icmp()->mutable_parameters() = parameters;
  v1::Result result = measurement.Measured(evidence);
  AddNotes(*engine, outcome, parameters, &result);
  if (engine->overflow() > 0) {
    // Loss in this host must not be counted against the path.
    result.set_outcome(v1::OUTCOME_FAILED);
    *result.mutable_reason() =
        MakeMessage("probe.receive_overflow", {{"count", absl::StrCat(engine->overflow())}});
  }
  return result;
}

}  // namespace

absl::StatusOr<v1::IcmpProbe> WithDefaults(v1::IcmpProbe parameters) {
  if (parameters.count() == 0) parameters.set_count(kDefaultEchoCount);
  if (parameters.payload_bytes() == 0) parameters.set_payload_bytes(kDefaultPayloadBytes);
  if (!parameters.has_interval()) *parameters.mutable_interval() = ToProto(kDefaultEchoInterval);
  if (!parameters.has_timeout()) *parameters.mutable_timeout() = ToProto(kDefaultEchoTimeout);
  ASSAY_RETURN_IF_ERROR(CheckCount("count", parameters.count(), 1, kMaxEchoCount));
  ASSAY_RETURN_IF_ERROR(
      CheckCount("payload", parameters.payload_bytes(), kMinPayloadBytes, kMaxPayloadBytes));
  ASSAY_RETURN_IF_ERROR(CheckCount("dscp", parameters.dscp(), 0, 63));
  ASSAY_RETURN_IF_ERROR(CheckDuration("interval", FromProto(parameters.interval()),
                                      kMinEchoInterval, absl::Minutes(10)));
  ASSAY_RETURN_IF_ERROR(CheckDuration("timeout", FromProto(parameters.timeout()),
                                      absl::Milliseconds(1), absl::Minutes(1)));
  if (parameters.target().empty()) return BadParameter("target", "\"\"", "a host");
  return parameters;
}

v1::Capability IcmpProbe::Supported() const {
  v1::Capability capability;
  capability.set_probe("icmp");
  auto v4 = IcmpSocket::Open(IpVersion::kV4, preference_, kDefaultPayloadBytes);
  auto v6 = IcmpSocket::Open(IpVersion::kV6, preference_, kDefaultPayloadBytes);
  capability.set_supported(v4.ok() || v6.ok());
  if (!v4.ok() && !v6.ok()) {
    // A host without IPv6 says so less usefully than IPv4 says what is missing.
    *capability.mutable_reason() = MessageOf(v4.status()).value_or(v1::Message());
  } else if (v4.ok() != v6.ok()) {
    std::string detail((v4.ok() ? v6 : v4).status().message());
    *capability.mutable_reason() = MakeMessage(
        "probe.icmp_one_family", {{"family", v4.ok() ? "IPv4" : "IPv6"}, {"detail", detail}});
  }
  return capability;
}

v1::Result IcmpProbe::Run(const ProbeRequest& request, const ProbeControl& control) {
  Measurement measurement(request.time_limit);
  absl::StatusOr<v1::Result> result = MeasureEcho(request, control, preference_, measurement);
  if (!result.ok()) return measurement.Without(result.status());
  if (control.progress) control.progress(1);
  return *std::move(result);
}

}  // namespace route

std::unique_ptr<Probe> MakeIcmpProbe() { return std::make_unique<route::IcmpProbe>(); }

}  // namespace assay::agent
