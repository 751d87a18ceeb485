#include "core/evidence/derive.h"

#include <functional>
#include <limits>
#include <map>
#include <string>

#include "core/metric/catalogue.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace assay::evidence {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointwise;

v1::Evidence Parse(const std::string& text) {
  v1::Evidence evidence;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &evidence)) << text;
  return evidence;
}

// Time-out 100 ms. In time: 10, 30, 20, 40, 100 (exactly the time-out), 12. Late: 150. Lost: two.
v1::Evidence Echo() {
  return Parse(R"pb(
    icmp {
      address: "192.0.2.1"
      parameters { timeout { nanos: 100000000 } }
      send_offset_ns: [ 0, 1, 2, 3, 4, 5, 6, 7, 8 ]
      rtt_ns: [ 10000000, 30000000, -1, 150000000, 20000000, 40000000, 100000000, -1, 12000000 ]
      send_failures: 2
      duplicates: 3
      duplicated_requests: 1
      reordered: 1
      corrupted: 4
      errors { type: 3 code: 1 from: "192.0.2.9" count: 5 }
      send_source: TIMESTAMP_SOURCE_USER
      receive_source: TIMESTAMP_SOURCE_KERNEL
    })pb");
}

v1::Evidence Connects() {
  return Parse(R"pb(
    tcp {
      address: "192.0.2.1"
      start_offset_ns: [ 0, 1, 2, 3, 4, 5 ]
      outcomes: [
        CONNECT_OUTCOME_CONNECTED,
        CONNECT_OUTCOME_CONNECTED,
        CONNECT_OUTCOME_REFUSED,
        CONNECT_OUTCOME_TIMED_OUT,
        CONNECT_OUTCOME_TIMED_OUT,
        CONNECT_OUTCOME_CONNECTED
      ]
      connect_ns: [ 10000000, 1020000000, 5000000, 5000000000, 5000000000, 30000000 ]
      syn_retransmits: [ 0, 1, 0, 2, 2, 0 ]
      connect_errno: [ 0, 0, 111, 110, 110, 0 ]
      start_failures: 7
    })pb");
}

v1::Evidence Requests() {
  return Parse(R"pb(
    http {
      url: "https://example.com/"
      certificate_not_after_s: 1798761600
      samples {
        outcome: HTTP_OUTCOME_OK
        status: 200
        body_bytes: 1000
        speed_bytes_per_s: 2000
        name_lookup_ns: 1000000
        connect_ns: 20000000
        tls_ns: 50000000
        first_byte_ns: 60000000
        total_ns: 500000000
      }
      samples {
        outcome: HTTP_OUTCOME_STATUS
        status: 503
        body_bytes: 10
        speed_bytes_per_s: 9
        name_lookup_ns: 9000000
        connect_ns: 9000000
        tls_ns: 9000000
        first_byte_ns: 9000000
        total_ns: 9000000
      }
      samples {
        outcome: HTTP_OUTCOME_OK
        status: 204
        name_lookup_ns: 3000000
        connect_ns: 40000000
        tls_ns: 70000000
        first_byte_ns: 80000000
        total_ns: 80000000
      }
      samples { outcome: HTTP_OUTCOME_CONNECT connect_ns: 0 error: "refused" }
    })pb");
}

std::map<std::string, v1::Metric> MetricsOf(const v1::Evidence& evidence) {
  auto metrics = DeriveMetrics(evidence);
  EXPECT_TRUE(metrics.ok()) << metrics.status();
  std::map<std::string, v1::Metric> by_name;
  for (const v1::Metric& metric : *metrics) by_name[metric.name()] = metric;
  return by_name;
}

TEST(DeriveIcmp, CountsLateAsLostAndTheTimeOutItselfAsInTime) {
  auto metrics = MetricsOf(Echo());
  EXPECT_EQ(metrics["icmp.loss_ratio"].proportion().events(), 3u);
  EXPECT_EQ(metrics["icmp.loss_ratio"].proportion().trials(), 9u);
  EXPECT_EQ(metrics["icmp.late_ratio"].proportion().events(), 1u);
  EXPECT_EQ(metrics["icmp.late_ratio"].proportion().trials(), 9u);
}

TEST(DeriveIcmp, DelaysAreOfAnsweredRequestsOnly) {
  auto metrics = MetricsOf(Echo());
  EXPECT_THAT(metrics["icmp.rtt_ms"].samples().values(),
              Pointwise(DoubleEq(), {10.0, 30.0, 20.0, 40.0, 100.0, 12.0}));
  EXPECT_THAT(metrics["icmp.pdv_ms"].samples().values(),
              Pointwise(DoubleEq(), {0.0, 20.0, 10.0, 30.0, 90.0, 2.0}));
}

TEST(DeriveIcmp, VariationNeedsTwoConsecutiveAnsweredRequests) {
  auto metrics = MetricsOf(Echo());
  // 10|30, 20|40, 40|100; nothing across the lost and the late ones.
  EXPECT_THAT(metrics["icmp.ipdv_ms"].samples().values(),
              Pointwise(DoubleEq(), {20.0, 20.0, 60.0}));
}

TEST(DeriveIcmp, DuplicateRatioCountsRequestsNotReplies) {
  auto metrics = MetricsOf(Echo());
  EXPECT_EQ(metrics["icmp.duplicate_ratio"].proportion().events(), 1u);
}

TEST(DeriveTcp, FailuresSamplesAndRetransmissions) {
  auto metrics = MetricsOf(Connects());
  EXPECT_EQ(metrics["tcp.failure_ratio"].proportion().events(), 3u);
  EXPECT_EQ(metrics["tcp.failure_ratio"].proportion().trials(), 6u);
  EXPECT_THAT(metrics["tcp.connect_ms"].samples().values(),
              Pointwise(DoubleEq(), {10.0, 1020.0, 30.0}));
  EXPECT_EQ(metrics["tcp.syn_retransmit_ratio"].proportion().events(), 3u);
}

TEST(DeriveHttp, TimesSuccessfulRequestsOnly) {
  auto metrics = MetricsOf(Requests());
  EXPECT_EQ(metrics["http.failure_ratio"].proportion().events(), 2u);
  EXPECT_EQ(metrics["http.failure_ratio"].proportion().trials(), 4u);
  EXPECT_THAT(metrics["http.name_lookup_ms"].samples().values(), ElementsAre(1.0, 3.0));
  EXPECT_THAT(metrics["http.tls_ms"].samples().values(), ElementsAre(50.0, 70.0));
  EXPECT_THAT(metrics["http.total_ms"].samples().values(), ElementsAre(500.0, 80.0));
  // The 204 has no body, hence no speed.
  EXPECT_THAT(metrics["http.speed_bytes_per_s"].samples().values(), ElementsAre(2000.0));
}

TEST(DeriveHttp, PlainHttpHasNoTlsMetric) {
  v1::Evidence evidence = Requests();
  evidence.mutable_http()->set_url("http://example.com/");
  for (v1::HttpSample& sample : *evidence.mutable_http()->mutable_samples()) sample.set_tls_ns(0);
  EXPECT_EQ(MetricsOf(evidence).count("http.tls_ms"), 0u);
}

TEST(Derive, EveryMetricStandsInTheCatalogueWithItsShape) {
  for (const v1::Evidence& evidence : {Echo(), Connects(), Requests()}) {
    for (const auto& [name, metric] : MetricsOf(evidence)) {
      const metric::MetricInfo* info = metric::Find(name);
      ASSERT_NE(info, nullptr) << name;
      EXPECT_EQ(info->shape == metric::Shape::kProportion, metric.has_proportion()) << name;
    }
  }
}

TEST(Summarise, Icmp) {
  auto summary = Summarise(Echo());
  ASSERT_TRUE(summary.ok()) << summary.status();
  // Sorted: 10 12 20 30 40 100. Type 1: the median is the 3rd, p95 and p99 are the 6th.
  EXPECT_EQ(*summary, nlohmann::ordered_json::parse(R"({
    "sent": 9, "received": 6, "late": 1, "duplicates": 3, "loss_ratio": 0.3333333333333333,
    "rtt_ms": {"min": 10.0, "median": 20.0, "p95": 100.0, "p99": 100.0, "max": 100.0},
    "pdv_p99_ms": 90.0, "ipdv_median_ms": 20.0,
    "loss_bursts": {"count": 2, "longest": 2},
    "reordered": 1, "corrupted": 4, "send_failures": 2,
    "icmp_errors": [{"type": 3, "code": 1, "from": "192.0.2.9", "count": 5}],
    "timestamps": {"send": "user", "receive": "kernel"}
  })"))
      << summary->dump(1);
}

TEST(Summarise, TotalLossHasNoDelaysRatherThanZeroes) {
  v1::Evidence evidence = Echo();
  for (int64_t& rtt : *evidence.mutable_icmp()->mutable_rtt_ns()) rtt = -1;
  auto summary = Summarise(evidence);
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ((*summary)["loss_ratio"], 1.0);
  for (const auto& [key, value] : (*summary)["rtt_ms"].items()) EXPECT_TRUE(value.is_null()) << key;
  EXPECT_TRUE((*summary)["pdv_p99_ms"].is_null());
  EXPECT_EQ((*summary)["loss_bursts"], nlohmann::ordered_json({{"count", 1}, {"longest", 9}}));
  EXPECT_THAT(MetricsOf(evidence)["icmp.rtt_ms"].samples().values(), IsEmpty());
}

TEST(Summarise, Tcp) {
  auto summary = Summarise(Connects());
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ((*summary)["attempts"], 6);
  EXPECT_EQ((*summary)["failures"], 3);
  EXPECT_EQ((*summary)["failure_ratio"], 0.5);
  EXPECT_EQ((*summary)["syn_retransmits"], 5);
  EXPECT_EQ((*summary)["syn_retransmit_ratio"], 0.5);
  EXPECT_EQ((*summary)["start_failures"], 7);
  EXPECT_EQ((*summary)["reasons"].dump(), R"({"refused":1,"timed_out":2})");
  EXPECT_EQ((*summary)["connect_ms"]["median"], 30.0);
  EXPECT_EQ((*summary)["connect_ms"]["max"], 1020.0);
}

TEST(Summarise, Http) {
  auto summary = Summarise(Requests());
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ((*summary)["requests"], 4);
  EXPECT_EQ((*summary)["failures"], 2);
  EXPECT_EQ((*summary)["reasons"].dump(), R"({"connect":1,"status":1})");
  EXPECT_EQ((*summary)["status"].dump(), R"({"200":1,"204":1,"503":1})");
  EXPECT_EQ((*summary)["connect_ms"].dump(), R"({"min":20.0,"median":20.0,"p95":40.0,"max":40.0})");
  EXPECT_EQ((*summary)["speed_bytes_per_s"]["max"], 2000.0);
  EXPECT_EQ((*summary)["certificate_expires_at"], "2027-01-01T00:00:00Z");
}

struct Broken {
  const char* name;
  std::function<v1::Evidence()> base;
  std::function<void(v1::Evidence&)> damage;
};

class DeriveRefuses : public ::testing::TestWithParam<Broken> {};

TEST_P(DeriveRefuses, EvidenceThatContradictsItself) {
  v1::Evidence evidence = GetParam().base();
  ASSERT_TRUE(DeriveMetrics(evidence).ok());
  GetParam().damage(evidence);
  EXPECT_EQ(DeriveMetrics(evidence).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Summarise(evidence).status().code(), absl::StatusCode::kInvalidArgument);
}

const Broken kBroken[] = {
    {"NoKind", Echo, [](v1::Evidence& e) { e.clear_kind(); }},
    {"EchoColumns", Echo, [](v1::Evidence& e) { e.mutable_icmp()->add_rtt_ns(1); }},
    {"EchoDelay", Echo, [](v1::Evidence& e) { e.mutable_icmp()->set_rtt_ns(0, -2); }},
    {"EchoOffset", Echo, [](v1::Evidence& e) { e.mutable_icmp()->set_send_offset_ns(0, -1); }},
    {"EchoNoTimeout", Echo,
     [](v1::Evidence& e) { e.mutable_icmp()->mutable_parameters()->clear_timeout(); }},
    {"EchoEndlessTimeout", Echo,
     [](v1::Evidence& e) {
       e.mutable_icmp()->mutable_parameters()->mutable_timeout()->set_seconds(
           std::numeric_limits<int64_t>::max());
     }},
    {"EchoDuplicates", Echo, [](v1::Evidence& e) { e.mutable_icmp()->set_duplicated_requests(4); }},
    {"EchoDuplicatesOfNone", Echo,
     [](v1::Evidence& e) { e.mutable_icmp()->set_duplicated_requests(0); }},
    {"EchoReordered", Echo, [](v1::Evidence& e) { e.mutable_icmp()->set_reordered(10); }},
    {"EchoErrorSender", Echo,
     [](v1::Evidence& e) { e.mutable_icmp()->mutable_errors(0)->set_from("\x1b[2J"); }},
    {"ConnectColumns", Connects, [](v1::Evidence& e) { e.mutable_tcp()->add_connect_ns(1); }},
    {"ConnectDuration", Connects, [](v1::Evidence& e) { e.mutable_tcp()->set_connect_ns(0, -1); }},
    {"ConnectOutcome", Connects,
     [](v1::Evidence& e) { e.mutable_tcp()->set_outcomes(0, v1::CONNECT_OUTCOME_UNSPECIFIED); }},
    {"ConnectUnknownOutcome", Connects,
     [](v1::Evidence& e) {
       e.mutable_tcp()->set_outcomes(0, static_cast<v1::ConnectOutcome>(99));
     }},
    {"ConnectedWithError", Connects,
     [](v1::Evidence& e) { e.mutable_tcp()->set_connect_errno(0, 111); }},
    {"RequestNegative", Requests,
     [](v1::Evidence& e) { e.mutable_http()->mutable_samples(0)->set_total_ns(-1); }},
    {"RequestSpeedNan", Requests,
     [](v1::Evidence& e) {
       e.mutable_http()->mutable_samples(0)->set_speed_bytes_per_s(
           std::numeric_limits<double>::quiet_NaN());
     }},
    {"RequestSpeedInfinite", Requests,
     [](v1::Evidence& e) {
       e.mutable_http()->mutable_samples(0)->set_speed_bytes_per_s(
           std::numeric_limits<double>::infinity());
     }},
    {"RequestCertificate", Requests,
     [](v1::Evidence& e) {
       e.mutable_http()->set_certificate_not_after_s(std::numeric_limits<int64_t>::max());
     }},
};

INSTANTIATE_TEST_SUITE_P(All, DeriveRefuses, ::testing::ValuesIn(kBroken),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Pack, GivesTheSameBytesAndTheSameEvidenceBack) {
  for (const v1::Evidence& evidence : {Echo(), Connects(), Requests()}) {
    auto packed = Pack(evidence);
    ASSERT_TRUE(packed.ok());
    EXPECT_EQ(*packed, *Pack(evidence));
    auto unpacked = Unpack(*packed);
    ASSERT_TRUE(unpacked.ok()) << unpacked.status();
    EXPECT_EQ(unpacked->SerializeAsString(), evidence.SerializeAsString());
  }
}

TEST(Unpack, RefusesWhatIsNotOneWholeFrame) {
  std::string packed = *Pack(Echo());
  for (const std::string& bytes :
       {std::string(), std::string("not zstd"), packed.substr(0, packed.size() / 2),
        packed.substr(0, packed.size() - 1), packed + "x", packed + packed}) {
    EXPECT_EQ(Unpack(bytes).status().code(), absl::StatusCode::kInvalidArgument) << bytes.size();
  }
}

TEST(Unpack, RefusesMoreThan64MebibytesHoweverSmallThePackage) {
  v1::Evidence evidence = Requests();
  evidence.mutable_http()->mutable_samples(0)->set_error(std::string((64 << 20) - 4096, 'x'));
  auto packed = Pack(evidence);
  ASSERT_TRUE(packed.ok());
  ASSERT_LT(packed->size(), size_t{1} << 20);
  EXPECT_TRUE(Unpack(*packed).ok());
  evidence.mutable_http()->mutable_samples(0)->set_error(std::string(64 << 20, 'x'));
  EXPECT_EQ(Pack(evidence).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace assay::evidence
