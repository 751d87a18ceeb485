#include <netinet/in.h>
#include <sys/random.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/probe/route/probe_result.h"
#include "agent/probe/route/resolve.h"
#include "agent/probe/route/route_probes.h"
#include "agent/probe/route/tcp_connector.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"

namespace assay::agent {
namespace route {
namespace {

constexpr uint32_t kDefaultConnectCount = 20;
constexpr uint32_t kMaxConnectCount = 100'000;
constexpr absl::Duration kDefaultConnectInterval = absl::Milliseconds(200);
constexpr absl::Duration kMinConnectInterval = absl::Milliseconds(1);
constexpr absl::Duration kDefaultConnectTimeout = absl::Seconds(5);

absl::StatusOr<v1::TcpProbe> WithConnectDefaults(v1::TcpProbe parameters) {
  if (parameters.count() == 0) parameters.set_count(kDefaultConnectCount);
  if (!parameters.has_interval()) {
    *parameters.mutable_interval() = ToProto(kDefaultConnectInterval);
  }
  if (!parameters.has_timeout()) *parameters.mutable_timeout() = ToProto(kDefaultConnectTimeout);
  ASSAY_RETURN_IF_ERROR(CheckCount("count", parameters.count(), 1, kMaxConnectCount));
  ASSAY_RETURN_IF_ERROR(CheckCount("port", parameters.port(), 1, 65535));
  ASSAY_RETURN_IF_ERROR(CheckDuration("interval", FromProto(parameters.interval()),
                                      kMinConnectInterval, absl::Minutes(10)));
  ASSAY_RETURN_IF_ERROR(CheckDuration("timeout", FromProto(parameters.timeout()),
                                      absl::Milliseconds(1), absl::Minutes(5)));
  if (parameters.target().empty()) return BadParameter("target", "\"\"", "a host");
  return parameters;
}

void SetPort(SocketAddress* address, uint32_t port) {
  in_port_t value = htons(static_cast<uint16_t>(port));
  if (address->version() == IpVersion::kV6) {
    reinterpret_cast<sockaddr_in6*>(&address->storage)->sin6_port = value;
  } else {
    reinterpret_cast<sockaddr_in*>(&address->storage)->sin_port = value;
  }
}

absl::StatusOr<v1::Result> MeasureConnects(const ProbeRequest& request, const ProbeControl& control,
                                           const Measurement& measurement) {
  ASSAY_ASSIGN_OR_RETURN(v1::TcpProbe parameters, WithConnectDefaults(request.probe.tcp()));
  ASSAY_ASSIGN_OR_RETURN(ResolvedTarget target,
                         ResolveTarget(parameters.target(), parameters.family(), request, control,
                                       measurement.deadline_ns()));
  SetPort(&target.address, parameters.port());
  uint64_t seed = 0;
  // Any seed will do: it only spreads the connects.
  if (getrandom(&seed, sizeof(seed), 0) < 0) seed = static_cast<uint64_t>(measurement.begin_ns());
  TcpConnector connector({.address = target.address,
                          .count = parameters.count(),
                          .interval_ns = absl::ToInt64Nanoseconds(FromProto(parameters.interval())),
                          .timeout_ns = absl::ToInt64Nanoseconds(FromProto(parameters.timeout()))},
                         seed);
  TcpConnector::End end =
      connector.Run(control.cancelled, measurement.deadline_ns(), control.progress);
  TcpConnector::Outcome outcome = connector.Finish(measurement.begin_ns());
  if (outcome.evidence.outcomes_size() == 0) {
    if (end == TcpConnector::End::kCancelled) {
      return Error(absl::StatusCode::kCancelled, "probe.cancelled");
    }
    if (end == TcpConnector::End::kDeadline) {
      return Error(absl::StatusCode::kDeadlineExceeded, "probe.too_little_time",
                   {{"limit", absl::FormatDuration(request.time_limit)},
                    {"timeout", absl::FormatDuration(FromProto(parameters.timeout()))}});
    }
    return measurement.NotMeasurable(MakeMessage(
        "probe.nothing_sent",
        {{"address", target.numeric}, {"detail", ErrnoText(outcome.evidence.start_errno())}}));
  }
  v1::Evidence evidence;
  *evidence.mutable_tcp() = outcome.evidence;
  evidence.mutable_tcp()->set_address(target.numeric);
  *evidence.mutable_tcp()->mutable_parameters() = parameters;
  v1::Result result = measurement.Measured(evidence);
  if (outcome.truncated) {
    result.add_marks(v1::MARK_TRUNCATED);
    *result.add_notes() =
        MakeMessage("probe.cut_short", {{"settled", absl::StrCat(outcome.evidence.outcomes_size())},
                                        {"count", absl::StrCat(parameters.count())}});
  }
  return result;
}

class TcpConnectProbe : public Probe {
 public:
  absl::string_view kind() const override { return "tcp"; }

  v1::Capability Supported() const override {
    v1::Capability capability;
    capability.set_probe("tcp");
    capability.set_supported(true);
    return capability;
  }

  v1::Result Run(const ProbeRequest& request, const ProbeControl& control) override {
    Measurement measurement(request.time_limit);
    absl::StatusOr<v1::Result> result = MeasureConnects(request, control, measurement);
    if (!result.ok()) return measurement.Without(result.status());
    if (control.progress) control.progress(1);
    return *std::move(result);
  }
};

}  // namespace
}  // namespace route

std::unique_ptr<Probe> MakeTcpProbe() { return std::make_unique<route::TcpConnectProbe>(); }

}  // namespace assay::agent
