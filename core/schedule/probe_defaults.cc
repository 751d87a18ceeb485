#include <algorithm>

#include "common/base/proto_time.h"
#include "core/schedule/timetable.h"

namespace assay::schedule {
namespace {

// Beyond the probe's own times: name look-ups, starting, and a busy host.
constexpr absl::Duration kHungAfter = absl::Seconds(30);

template <typename Kind>
void FillCommon(Kind* kind, const v1::Server& server, uint32_t count, absl::Duration interval,
                absl::Duration timeout) {
  if (kind->target().empty() && !server.addresses().empty()) {
    kind->set_target(server.addresses(0));
  }
  if (kind->count() == 0) kind->set_count(count);
  if (FromProto(kind->interval()) <= absl::ZeroDuration()) {
    *kind->mutable_interval() = ToProto(interval);
  }
  if (FromProto(kind->timeout()) <= absl::ZeroDuration()) {
    *kind->mutable_timeout() = ToProto(timeout);
  }
}

// From the first attempt to the last, if none delays the next.
template <typename Kind>
absl::Duration Spread(const Kind& kind) {
  if (kind.count() == 0) return absl::ZeroDuration();
  return FromProto(kind.interval()) * static_cast<int64_t>(kind.count() - 1);
}

template <typename Kind>
absl::Duration Expected(const Kind& kind) {
  return Spread(kind) + std::min(FromProto(kind.timeout()), absl::Seconds(1));
}

// Attempts that wait for one another may each use the whole time-out.
template <typename Kind>
absl::Duration LimitOneByOne(const Kind& kind) {
  absl::Duration each = FromProto(kind.timeout()) + FromProto(kind.interval());
  return each * static_cast<int64_t>(kind.count()) + kHungAfter;
}

}  // namespace

v1::Probe WithDefaults(const v1::Probe& probe, const v1::Server& server) {
  v1::Probe full = probe;
  if (full.repetitions() == 0) full.set_repetitions(1);
  switch (full.kind_case()) {
    case v1::Probe::kIcmp: {
      v1::IcmpProbe* icmp = full.mutable_icmp();
      FillCommon(icmp, server, 100, absl::Milliseconds(50), absl::Seconds(2));
      if (icmp->payload_bytes() == 0) icmp->set_payload_bytes(56);
      break;
    }
    case v1::Probe::kTcp:
      FillCommon(full.mutable_tcp(), server, 20, absl::Milliseconds(200), absl::Seconds(5));
      break;
    case v1::Probe::kHttp: {
      v1::HttpProbe* http = full.mutable_http();
      FillCommon(http, server, 5, absl::Seconds(1), absl::Seconds(10));
      if (http->scheme().empty()) http->set_scheme("http");
      if (http->port() == 0) http->set_port(http->scheme() == "https" ? 443 : 80);
      if (http->path().empty()) http->set_path("/");
      if (http->max_body_bytes() == 0) http->set_max_body_bytes(10'000'000);
      break;
    }
    case v1::Probe::KIND_NOT_SET:
      break;
  }
  return full;
}

absl::Duration ExpectedDuration(const v1::Probe& probe) {
  switch (probe.kind_case()) {
    case v1::Probe::kIcmp:
      return Expected(probe.icmp());
    case v1::Probe::kTcp:
      return Expected(probe.tcp());
    case v1::Probe::kHttp:
      return Expected(probe.http());
    case v1::Probe::KIND_NOT_SET:
      break;
  }
  return absl::ZeroDuration();
}

absl::Duration TimeLimit(const v1::Probe& probe) {
  switch (probe.kind_case()) {
    case v1::Probe::kIcmp:
      // Echoes do not wait for one another; their jitter is a tenth of the interval.
      return Spread(probe.icmp()) * 1.5 + FromProto(probe.icmp().timeout()) + kHungAfter;
    case v1::Probe::kTcp:
      return LimitOneByOne(probe.tcp());
    case v1::Probe::kHttp:
      return LimitOneByOne(probe.http());
    case v1::Probe::KIND_NOT_SET:
      break;
  }
  return kHungAfter;
}

}  // namespace assay::schedule
