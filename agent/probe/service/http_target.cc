#include "agent/probe/service/http_target.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "agent/guard/address.h"
#include "agent/probe/route/probe_result.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"

namespace assay::agent::service {
namespace {

using route::BadParameter;

absl::string_view WithoutBrackets(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return host;
}

// Zones ("%eth0") are left out: curl could not be pinned to such an address.
bool IsHost(absl::string_view host) {
  if (host.find(':') != absl::string_view::npos) {
    return host.find('%') == absl::string_view::npos && guard::ParseIpAddress(host).has_value();
  }
  return !host.empty() && host.size() <= 253 && host[0] != '-' &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

absl::Status CheckRanges(const v1::HttpProbe& probe) {
  using absl::Hours;
  using absl::Milliseconds;
  ASSAY_RETURN_IF_ERROR(route::CheckCount("count", probe.count(), 1, 100000));
  ASSAY_RETURN_IF_ERROR(route::CheckCount("port", probe.port(), 1, 65535));
  ASSAY_RETURN_IF_ERROR(
      route::CheckDuration("interval", FromProto(probe.interval()), Milliseconds(1), Hours(1)));
  ASSAY_RETURN_IF_ERROR(
      route::CheckDuration("timeout", FromProto(probe.timeout()), Milliseconds(1), Hours(1)));
  for (uint32_t status : probe.expect_status()) {
    ASSAY_RETURN_IF_ERROR(route::CheckCount("expect_status", status, 100, 599));
  }
  return absl::OkStatus();
}

}  // namespace

void FillHttpDefaults(v1::HttpProbe& probe) {
  if (probe.scheme().empty()) probe.set_scheme("http");
  if (probe.port() == 0) probe.set_port(probe.scheme() == "https" ? 443 : 80);
  if (probe.path().empty()) probe.set_path("/");
  if (probe.count() == 0) probe.set_count(5);
  if (!probe.has_interval()) *probe.mutable_interval() = ToProto(absl::Seconds(1));
  if (!probe.has_timeout()) *probe.mutable_timeout() = ToProto(absl::Seconds(10));
  if (probe.max_body_bytes() == 0) probe.set_max_body_bytes(10'000'000);
}

absl::StatusOr<HttpTarget> MakeHttpTarget(const v1::HttpProbe& probe) {
  ASSAY_RETURN_IF_ERROR(CheckRanges(probe));
  if (probe.scheme() != "http" && probe.scheme() != "https") {
    return BadParameter("scheme", probe.scheme(), "http, https");
  }
  HttpTarget target;
  target.secure = probe.scheme() == "https";
  target.port = static_cast<uint16_t>(probe.port());
  target.lookup_host = std::string(WithoutBrackets(probe.target()));
  if (!IsHost(target.lookup_host)) {
    return BadParameter("target", probe.target(), "a host name (ASCII, xn--…), IPv4, IPv6");
  }
  target.url_host = target.lookup_host;
  if (!probe.host_name().empty()) {
    if (!IsHost(probe.host_name())) {
      return BadParameter("host_name", probe.host_name(), "a host name (ASCII, xn--…)");
    }
    target.url_host = probe.host_name();
  }
  const std::string& path = probe.path();
  if (path[0] != '/' || !std::all_of(path.begin(), path.end(), [](char c) {
        auto byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte != 0x7f;
      })) {
    return BadParameter("path", absl::CHexEscape(path), "/…");
  }
  bool v6 = target.url_host.find(':') != std::string::npos;
  target.url = absl::StrCat(probe.scheme(), "://", v6 ? "[" : "", target.url_host, v6 ? "]" : "");
  if (target.port != (target.secure ? 443 : 80)) absl::StrAppend(&target.url, ":", target.port);
  absl::StrAppend(&target.url, path);
  return target;
}

}  // namespace assay::agent::service
