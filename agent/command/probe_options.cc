#include "agent/command/probe_options.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "agent/probe/service/http_url.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/document/units.h"

namespace assay::command {
namespace {

constexpr uint32_t kMaxCount = 100'000;

// Numbers and durations; remembers which option the last error was about.
class OptionReader {
 public:
  explicit OptionReader(std::string* blamed) : blamed_(blamed) {}

  absl::Status Number(const char* option, const std::string& text, uint32_t low, uint32_t high,
                      uint32_t* value) {
    if (absl::SimpleAtoi(text, value) && *value >= low && *value <= high) return absl::OkStatus();
    return Blame(
        option, Error(absl::StatusCode::kInvalidArgument, "command.bad_number",
                      {{"value", text}, {"low", absl::StrCat(low)}, {"high", absl::StrCat(high)}}));
  }

  absl::Status Duration(const char* option, const std::string& text,
                        google::protobuf::Duration* duration) {
    absl::StatusOr<absl::Duration> parsed = document::ParseDuration(text);
    if (!parsed.ok()) return Blame(option, parsed.status());
    *duration = ToProto(*parsed);
    return absl::OkStatus();
  }

  absl::Status Blame(const char* option, absl::Status problem) {
    *blamed_ = option;
    return problem;
  }

 private:
  std::string* const blamed_;
};

absl::string_view StripBrackets(absl::string_view host) {
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    return host.substr(1, host.size() - 2);
  }
  return host;
}

// What all kinds have.
template <typename Kind>
absl::Status FillCommon(const ProbeWords& words, OptionReader& reader, Kind& probe) {
  if (words.ipv4 && words.ipv6) {
    return Error(absl::StatusCode::kInvalidArgument, "command.both_families");
  }
  if (words.ipv4) probe.set_family(v1::ADDRESS_FAMILY_IPV4);
  if (words.ipv6) probe.set_family(v1::ADDRESS_FAMILY_IPV6);
  if (!words.count.empty()) {
    uint32_t count = 0;
    ASSAY_RETURN_IF_ERROR(reader.Number("--count", words.count, 1, kMaxCount, &count));
    probe.set_count(count);
  }
  if (!words.interval.empty()) {
    ASSAY_RETURN_IF_ERROR(reader.Duration("--interval", words.interval, probe.mutable_interval()));
  }
  if (!words.timeout.empty()) {
    ASSAY_RETURN_IF_ERROR(reader.Duration("--timeout", words.timeout, probe.mutable_timeout()));
  }
  return absl::OkStatus();
}

absl::StatusOr<HandProbe> MakeIcmp(const ProbeWords& words, OptionReader& reader) {
  HandProbe hand;
  v1::IcmpProbe& icmp = *hand.probe.mutable_icmp();
  ASSAY_RETURN_IF_ERROR(FillCommon(words, reader, icmp));
  icmp.set_target(std::string(StripBrackets(words.target)));
  uint32_t number = 0;
  if (!words.payload.empty()) {
    ASSAY_RETURN_IF_ERROR(reader.Number("--payload", words.payload, 16, 65000, &number));
    icmp.set_payload_bytes(number);
  }
  if (!words.dscp.empty()) {
    ASSAY_RETURN_IF_ERROR(reader.Number("--dscp", words.dscp, 0, 63, &number));
    icmp.set_dscp(number);
  }
  hand.host = hand.shown_target = icmp.target();
  return hand;
}

// Host and port of "HOST:PORT", "[IPV6]:PORT", or HOST and PORT apart.
absl::Status SplitHostPort(const ProbeWords& words, std::string* host, std::string* port) {
  absl::string_view target = words.target;
  if (!words.port.empty()) {
    *host = std::string(StripBrackets(target));
    *port = words.port;
    return absl::OkStatus();
  }
  size_t colon = target.rfind(':');
  bool bracketed = absl::StartsWith(target, "[");
  bool separates = colon != absl::string_view::npos && colon > 0 &&
                   (bracketed ? target[colon - 1] == ']' : target.find(':') == colon);
  if (!separates) {
    return Error(absl::StatusCode::kInvalidArgument, "command.no_port", {{"target", words.target}});
  }
  *host = std::string(StripBrackets(target.substr(0, colon)));
  *port = std::string(target.substr(colon + 1));
  return absl::OkStatus();
}

absl::StatusOr<HandProbe> MakeTcp(const ProbeWords& words, OptionReader& reader) {
  HandProbe hand;
  v1::TcpProbe& tcp = *hand.probe.mutable_tcp();
  ASSAY_RETURN_IF_ERROR(FillCommon(words, reader, tcp));
  std::string port;
  ASSAY_RETURN_IF_ERROR(SplitHostPort(words, &hand.host, &port));
  uint32_t number = 0;
  ASSAY_RETURN_IF_ERROR(reader.Number("PORT", port, 1, 65535, &number));
  tcp.set_target(hand.host);
  tcp.set_port(number);
  bool v6 = absl::StrContains(hand.host, ":");
  hand.shown_target = absl::StrCat(v6 ? "[" : "", hand.host, v6 ? "]:" : ":", number);
  return hand;
}

absl::StatusOr<HandProbe> MakeHttp(const ProbeWords& words, OptionReader& reader) {
  HandProbe hand;
  v1::HttpProbe& http = *hand.probe.mutable_http();
  ASSAY_ASSIGN_OR_RETURN(http, agent::ParseHttpUrl(words.target));
  ASSAY_RETURN_IF_ERROR(FillCommon(words, reader, http));
  http.set_insecure(words.insecure);
  http.set_host_name(words.host_name);
  if (!words.max_body.empty()) {
    absl::StatusOr<double> bytes = document::ParseQuantity(words.max_body, v1::UNIT_BYTES);
    if (!bytes.ok()) return reader.Blame("--max-body", bytes.status());
    http.set_max_body_bytes(static_cast<uint64_t>(std::clamp(*bytes, 1.0, 1e15)));
  }
  for (const std::string& text : words.expect_status) {
    uint32_t status = 0;
    ASSAY_RETURN_IF_ERROR(reader.Number("--expect-status", text, 100, 599, &status));
    http.add_expect_status(status);
  }
  hand.host = http.target();
  hand.shown_target = words.target;
  return hand;
}

}  // namespace

absl::StatusOr<HandProbe> MakeHandProbe(const ProbeWords& words, std::string* blamed) {
  OptionReader reader(blamed);
  if (words.kind == "icmp") return MakeIcmp(words, reader);
  if (words.kind == "tcp") return MakeTcp(words, reader);
  return MakeHttp(words, reader);
}

}  // namespace assay::command
