// Echo evidence. Every request is exactly one of: answered in time (0 <= rtt <= time-out), late
// (rtt > time-out), unanswered (-1). Late and unanswered are lost: RFC 2681, RFC 6673.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/evidence/kinds.h"

namespace assay::evidence {
namespace {

constexpr double kNanosecondsPerMillisecond = 1e6;
// Longest numeric address, with a scope.
constexpr size_t kMaxAddressLength = 64;

struct EchoReading {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t late = 0;
  std::vector<double> rtt_ms;
  std::vector<double> pdv_ms;
  std::vector<double> ipdv_ms;
  // RFC 3357: runs of consecutive lost requests.
  uint64_t bursts = 0;
  uint64_t longest_burst = 0;
};

absl::Status CheckEcho(const v1::IcmpEvidence& evidence) {
  if (evidence.rtt_ns_size() != evidence.send_offset_ns_size()) {
    return Contradiction("icmp", absl::StrCat(evidence.send_offset_ns_size(), " send times for ",
                                              evidence.rtt_ns_size(), " delays"));
  }
  absl::Duration timeout = FromProto(evidence.parameters().timeout());
  if (timeout <= absl::ZeroDuration() || timeout > absl::Hours(1)) {
    return Contradiction("icmp", "no sensible time-out among the parameters");
  }
  for (int64_t rtt : evidence.rtt_ns()) {
    if (rtt < -1) return Contradiction("icmp", "a negative delay");
  }
  for (int64_t offset : evidence.send_offset_ns()) {
    if (offset < 0) return Contradiction("icmp", "a request sent before the start");
  }
  auto sent = static_cast<uint64_t>(evidence.rtt_ns_size());
  if (evidence.duplicated_requests() > sent ||
      evidence.duplicated_requests() > evidence.duplicates() ||
      (evidence.duplicates() > 0) != (evidence.duplicated_requests() > 0)) {
    return Contradiction("icmp", "counts of duplicates that cannot both be right");
  }
  if (evidence.reordered() > sent) return Contradiction("icmp", "more reordered than sent");
  for (const v1::IcmpErrorCount& error : evidence.errors()) {
    bool plain = error.from().size() <= kMaxAddressLength &&
                 std::all_of(error.from().begin(), error.from().end(),
                             [](unsigned char c) { return absl::ascii_isgraph(c); });
    if (!plain) return Contradiction("icmp", "a sender that is not an address");
  }
  return absl::OkStatus();
}

EchoReading ReadEcho(const v1::IcmpEvidence& evidence) {
  EchoReading reading;
  int64_t timeout_ns = absl::ToInt64Nanoseconds(FromProto(evidence.parameters().timeout()));
  int64_t previous_ns = -1;  // delay of the request before, -1 where it was lost
  uint64_t burst = 0;
  for (int64_t rtt_ns : evidence.rtt_ns()) {
    ++reading.sent;
    bool lost = rtt_ns < 0 || rtt_ns > timeout_ns;
    if (rtt_ns > timeout_ns) ++reading.late;
    if (lost) {
      previous_ns = -1;
      if (++burst == 1) ++reading.bursts;
      reading.longest_burst = std::max(reading.longest_burst, burst);
      continue;
    }
    burst = 0;
    ++reading.received;
    reading.rtt_ms.push_back(static_cast<double>(rtt_ns) / kNanosecondsPerMillisecond);
    if (previous_ns >= 0) {
      double difference = std::fabs(static_cast<double>(rtt_ns - previous_ns));
      reading.ipdv_ms.push_back(difference / kNanosecondsPerMillisecond);
    }
    previous_ns = rtt_ns;
  }
  if (!reading.rtt_ms.empty()) {
    double minimum = *std::min_element(reading.rtt_ms.begin(), reading.rtt_ms.end());
    for (double rtt : reading.rtt_ms) reading.pdv_ms.push_back(rtt - minimum);
  }
  return reading;
}

const char* SourceName(v1::TimestampSource source) {
  switch (source) {
    case v1::TIMESTAMP_SOURCE_KERNEL:
      return "kernel";
    case v1::TIMESTAMP_SOURCE_USER:
      return "user";
    default:
      return "unknown";
  }
}

}  // namespace

absl::StatusOr<std::vector<v1::Metric>> DeriveIcmp(const v1::IcmpEvidence& evidence) {
  ASSAY_RETURN_IF_ERROR(CheckEcho(evidence));
  EchoReading reading = ReadEcho(evidence);
  return std::vector<v1::Metric>{
      Proportion("icmp.loss_ratio", reading.sent - reading.received, reading.sent),
      Samples("icmp.rtt_ms", reading.rtt_ms),
      Samples("icmp.pdv_ms", reading.pdv_ms),
      Samples("icmp.ipdv_ms", reading.ipdv_ms),
      Proportion("icmp.duplicate_ratio", evidence.duplicated_requests(), reading.sent),
      Proportion("icmp.late_ratio", reading.late, reading.sent),
  };
}

absl::StatusOr<nlohmann::ordered_json> SummariseIcmp(const v1::IcmpEvidence& evidence) {
  ASSAY_RETURN_IF_ERROR(CheckEcho(evidence));
  EchoReading reading = ReadEcho(evidence);
  nlohmann::ordered_json summary;
  summary["sent"] = reading.sent;
  summary["received"] = reading.received;
  summary["late"] = reading.late;
  summary["duplicates"] = evidence.duplicates();
  summary["loss_ratio"] = Ratio(reading.sent - reading.received, reading.sent);
  summary["rtt_ms"] = Quantiles(
      reading.rtt_ms, {{"min", 0}, {"median", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"max", 1}});
  summary["pdv_p99_ms"] = Quantiles(reading.pdv_ms, {{"p99", 0.99}})["p99"];
  summary["ipdv_median_ms"] = Quantiles(reading.ipdv_ms, {{"median", 0.5}})["median"];
  summary["loss_bursts"] = {{"count", reading.bursts}, {"longest", reading.longest_burst}};
  summary["reordered"] = evidence.reordered();
  summary["corrupted"] = evidence.corrupted();
  summary["send_failures"] = evidence.send_failures();
  auto errors = nlohmann::ordered_json::array();
  for (const v1::IcmpErrorCount& error : evidence.errors()) {
    errors.push_back({{"type", error.type()},
                      {"code", error.code()},
                      {"from", error.from()},
                      {"count", error.count()}});
  }
  summary["icmp_errors"] = std::move(errors);
  summary["timestamps"] = {{"send", SourceName(evidence.send_source())},
                           {"receive", SourceName(evidence.receive_source())}};
  return summary;
}

}  // namespace assay::evidence
