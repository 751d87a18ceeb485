#include "core/metric/catalogue.h"

#include <algorithm>

namespace assay::metric {
namespace {

using enum Shape;
using enum Direction;
using enum Family;

// In order of family and of the order in which a reader asks. Never reuse a name with another
// meaning: stored criteria and verdicts refer to it.
constexpr MetricInfo kMetrics[] = {
    {"icmp.loss_ratio", v1::UNIT_RATIO, kProportion, kLowerIsBetter, kRoute, v1::STATISTIC_RATIO,
     "RFC 6673, RFC 7680",
     "Echo requests without an intact reply within the time-out, of those that were sent; a late "
     "reply counts as lost.",
     "已发出的回显请求中，在超时时间内没有收到完好应答的比例；迟到的应答按丢包计。"},
    {"icmp.rtt_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kRoute, v1::STATISTIC_MEDIAN,
     "RFC 2681",
     "Round-trip delay of each echo request that was answered within the time-out; lost and late "
     "requests have none.",
     "每个在超时时间内得到应答的回显请求的往返时延；丢失和迟到的请求没有时延。"},
    {"icmp.pdv_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kRoute, v1::STATISTIC_P99,
     "RFC 5481",
     "Packet delay variation: each round-trip delay minus the smallest one of the same result.",
     "时延变化（PDV）：每个往返时延减去同一结果中的最小往返时延。"},
    {"icmp.ipdv_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kRoute, v1::STATISTIC_MEDIAN,
     "RFC 3393",
     "Inter-packet delay variation: absolute difference of the round-trip delays of two "
     "consecutive requests, where both were answered within the time-out.",
     "包间时延变化（IPDV）：两个相邻请求往返时延之差的绝对值，仅当两者都在超时时间内得到应答时才有"
     "。"},
    {"icmp.duplicate_ratio", v1::UNIT_RATIO, kProportion, kLowerIsBetter, kRoute,
     v1::STATISTIC_RATIO, "RFC 5560",
     "Echo requests that were answered intact more than once, of those that were sent.",
     "已发出的回显请求中，收到多于一个完好应答的比例。"},
    {"icmp.late_ratio", v1::UNIT_RATIO, kProportion, kLowerIsBetter, kRoute, v1::STATISTIC_RATIO,
     "RFC 2681",
     "Echo requests whose reply came after the time-out while the probe still listened, of those "
     "that were sent; they are also counted as lost.",
     "已发出的回显请求中，应答在超时之后、探测仍在监听时到达的比例；这些请求同时计为丢包。"},
    {"tcp.failure_ratio", v1::UNIT_RATIO, kProportion, kLowerIsBetter, kRoute, v1::STATISTIC_RATIO,
     "RFC 9293",
     "TCP connects to the business port that did not complete the three-way handshake within the "
     "time-out, for whatever reason, of those that were started.",
     "对业务端口发起的 TCP 连接中，在超时时间内未能完成三次握手的比例，不论原因。"},
    {"tcp.connect_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kRoute,
     v1::STATISTIC_MEDIAN, "RFC 9293",
     "Time until each successful TCP connect was established, retransmissions of the SYN included; "
     "failed connects have none.",
     "每次成功的 TCP 连接从发起到建立所用的时间，含 SYN 重传；失败的连接没有此值。"},
    {"tcp.syn_retransmit_ratio", v1::UNIT_RATIO, kProportion, kLowerIsBetter, kRoute,
     v1::STATISTIC_RATIO, "RFC 6298",
     "TCP connects, successful or not, for which the kernel sent the SYN more than once, of those "
     "that were started: loss, although the connect may succeed a second or more later.",
     "已发起的 TCP 连接（无论成败）中，内核至少重传过一次 SYN "
     "的比例：即使连接在一秒或更久之后成功，这也是丢包。"},
    {"http.failure_ratio", v1::UNIT_RATIO, kProportion, kLowerIsBetter, kService,
     v1::STATISTIC_RATIO, "RFC 9110",
     "HTTP requests that did not end with an expected status and a complete body within the "
     "time-out (a body that the probe itself cut short is complete), of those that were made.",
     "已发出的 HTTP 请求中，未能在超时时间内以预期状态码和完整正文结束的比例"
     "（由探测自身截断的正文视为完整）。"},
    {"http.name_lookup_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kService,
     v1::STATISTIC_MEDIAN, "curl manual: time_namelookup",
     "Time from the start of each successful request until the name was resolved.",
     "每个成功请求从开始到域名解析完成所用的时间。"},
    {"http.connect_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kService,
     v1::STATISTIC_MEDIAN, "curl manual: time_connect",
     "Time from the start of each successful request until the TCP connection was established, "
     "name look-up included.",
     "每个成功请求从开始到 TCP 连接建立所用的时间，含域名解析。"},
    {"http.tls_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kService, v1::STATISTIC_MEDIAN,
     "curl manual: time_appconnect",
     "Time from the start of each successful HTTPS request until the TLS handshake was completed, "
     "look-up and connect included; plain HTTP has none.",
     "每个成功的 HTTPS 请求从开始到 TLS 握手完成所用的时间，含解析和连接；明文 HTTP 没有此值。"},
    {"http.first_byte_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kService,
     v1::STATISTIC_MEDIAN, "curl manual: time_starttransfer",
     "Time from the start of each successful request until the first byte of the answer came, all "
     "earlier phases included.",
     "每个成功请求从开始到收到应答首字节所用的时间，含之前的各阶段。"},
    {"http.total_ms", v1::UNIT_MILLISECONDS, kSamples, kLowerIsBetter, kService,
     v1::STATISTIC_MEDIAN, "curl manual: time_total",
     "Time from the start of each successful request until the whole answer (or the part that the "
     "probe reads) was received.",
     "每个成功请求从开始到收完全部应答（或探测所读取的部分）所用的时间。"},
    {"http.speed_bytes_per_s", v1::UNIT_BYTES_PER_SECOND, kSamples, kHigherIsBetter, kService,
     v1::STATISTIC_MEDIAN, "curl manual: speed_download",
     "Body bytes received divided by the total time, for each successful request with a body; "
     "small bodies measure delay rather than bandwidth.",
     "每个有正文的成功请求收到的正文字节数除以总时间；正文很小时，它反映的是时延而不是带宽。"},
};

}  // namespace

const std::vector<MetricInfo>& Catalogue() {
  static const std::vector<MetricInfo>* const catalogue =
      new std::vector<MetricInfo>(std::begin(kMetrics), std::end(kMetrics));
  return *catalogue;
}

const MetricInfo* Find(absl::string_view name) {
  const std::vector<MetricInfo>& all = Catalogue();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const MetricInfo& info) { return name == info.name; });
  return found == all.end() ? nullptr : &*found;
}

std::string UnitSymbol(v1::Unit unit) {
  switch (unit) {
    case v1::UNIT_BYTES:
      return "B";
    case v1::UNIT_BITS_PER_SECOND:
      return "bit/s";
    case v1::UNIT_BYTES_PER_SECOND:
      return "B/s";
    case v1::UNIT_RATIO:
      return "%";
    case v1::UNIT_MILLISECONDS:
      return "ms";
    default:
      return "";
  }
}

}  // namespace assay::metric
