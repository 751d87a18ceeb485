#include "core/document/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/message.h"
#include "google/protobuf/text_format.h"

namespace assay::document {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  auto documents = ReadDocuments(text, "f.yaml");
  if (documents.ok()) return "accepted";
  EXPECT_EQ(documents.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(MessageOf(documents.status()).has_value());
  std::string chinese = Render(Language::kChinese, documents.status());
  // No placeholder is left in either language.
  EXPECT_EQ(chinese.find('{'), std::string::npos) << chinese;
  EXPECT_EQ(documents.status().message().find('{'), absl::string_view::npos);
  return std::string(documents.status().message());
}

v1::Document OneDocument(const std::string& text) {
  auto documents = ReadDocuments(text, "f.yaml");
  EXPECT_TRUE(documents.ok()) << documents.status();
  if (!documents.ok() || documents->size() != 1) return v1::Document();
  return (*documents)[0].document;
}

void ExpectDocument(const std::string& yaml, const std::string& expected) {
  v1::Document document;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(expected, &document));
  EXPECT_EQ(OneDocument(yaml).DebugString(), document.DebugString());
}

TEST(ReadDocumentsTest, ReadsAServer) {
  ExpectDocument(R"(
kind: server
name: hk-gpu-01
description: 香港 GPU 服务器
addresses: [gpu.example.com, "192.0.2.1", 2001:db8::1]
claim: {gpu_model: A100, gpu_count: 8, gpu_memory: 80GB, line: 25M CN2, disk: 3.84TB}
time_zone: Asia/Hong_Kong
seller: "Example: \"Ltd\""
)",
                 R"(server {
  name: "hk-gpu-01" description: "香港 GPU 服务器"
  addresses: "gpu.example.com" addresses: "192.0.2.1" addresses: "2001:db8::1"
  claim { gpu_model: "A100" gpu_count: 8 gpu_memory_bytes: 80000000000 line: "25M CN2"
          disk_bytes: 3840000000000 }
  time_zone: "Asia/Hong_Kong" seller: "Example: \"Ltd\"" })");
}

TEST(ReadDocumentsTest, ReadsAVantageWhoseKindIsSpelledOut) {
  ExpectDocument("name: sz\nvantage_kind: data_source\ncarrier: telecom\nkind: vantage\n",
                 "vantage { name: 'sz' kind: VANTAGE_KIND_DATA_SOURCE carrier: 'telecom' }");
}

TEST(ReadDocumentsTest, ReadsAPlanWithEverything) {
  ExpectDocument(R"(
kind: plan
name: p
servers: [s]
vantages: [a, b]
time_zone: Asia/Shanghai
length: 1d12h
seed: 18446744073709551615
profile: base
windows:
- name: w
  role: off_peak
  days: [mon, sun]
  intervals:
  - start: 19:00
    end: "24:00"
  excluded_dates: [2026-10-01]
- {name: r, relative: {after: 1m, length: 90s}}
probes:
- name: e
  icmp: {count: 7, interval: 20ms, timeout: 1.5s, payload: 1kB, dscp: 46, family: ipv6}
  from: {kinds: [office, ops], vantages: [a], carriers: [unicom]}
  windows: [w]
  repetitions: 3
- {name: t, tcp: {port: 443}}
- name: h
  http: {scheme: https, expect_status: [200, 204], insecure: true, max_body: 1MiB, host_name: x.org}
  from: {server: true}
criteria:
- id: c
  metric: icmp.loss_ratio
  statistic: ratio
  comparison: at_most
  threshold: 1%
  where: {vantage_kinds: [office], vantages: [b], carriers: [x], windows: [w], probes: [e]}
  per: [vantage, window]
  confidence: 99%
  min_samples: 300
  min_days: 2
  severity: should
  reason: why
)",
                 R"(plan {
  name: "p" servers: "s" vantages: "a" vantages: "b" time_zone: "Asia/Shanghai"
  windows { name: "w" role: WINDOW_ROLE_OFF_PEAK days: WEEKDAY_MON days: WEEKDAY_SUN
            intervals { start: "19:00" end: "24:00" } excluded_dates: "2026-10-01" }
  windows { name: "r" relative { after { seconds: 60 } length { seconds: 90 } } }
  probes { name: "e"
    icmp { count: 7 interval { nanos: 20000000 } timeout { seconds: 1 nanos: 500000000 }
           payload_bytes: 1000 dscp: 46 family: ADDRESS_FAMILY_IPV6 }
    from { kinds: VANTAGE_KIND_OFFICE kinds: VANTAGE_KIND_OPS vantages: "a" carriers: "unicom" }
    windows: "w" repetitions: 3 }
  probes { name: "t" tcp { port: 443 } }
  probes { name: "h"
    http { scheme: "https" expect_status: 200 expect_status: 204 insecure: true
           max_body_bytes: 1048576 host_name: "x.org" }
    from { server: true } }
  profile: "base"
  criteria { id: "c" metric: "icmp.loss_ratio" statistic: STATISTIC_RATIO
    comparison: COMPARISON_AT_MOST threshold: "1%"
    where { vantage_kinds: VANTAGE_KIND_OFFICE vantages: "b" carriers: "x" windows: "w"
            probes: "e" }
    per: GROUPING_VANTAGE per: GROUPING_WINDOW confidence_ratio: 0.99 min_samples: 300
    min_days: 2 severity: SEVERITY_SHOULD reason: "why" }
  length { seconds: 129600 } seed: 18446744073709551615 })");
}

TEST(ReadDocumentsTest, ReadsSeveralDocumentsAndSkipsEmptyOnes) {
  auto documents = ReadDocuments(
      "---\nkind: server\nname: a\naddresses: [h]\n---\n# nothing\n---\n"
      "kind: server\nname: b\naddresses: [h]\n---\n",
      "f.yaml");

  ASSERT_TRUE(documents.ok()) << documents.status();
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[1].document.server().name(), "b");
}

TEST(ReadDocumentsTest, ReadsByteOrderMarksAndCarriageReturns) {
  ExpectDocument("\xef\xbb\xbfkind: server\r\nname: a\r\naddresses:\r\n- h\r\n",
                 "server { name: 'a' addresses: 'h' }");
}

TEST(ReadDocumentsTest, ReadsAliases) {
  ExpectDocument("kind: server\nname: &n a\nseller: *n\naddresses: [h]\n",
                 "server { name: 'a' addresses: 'h' seller: 'a' }");
}

TEST(ReadDocumentsTest, TextMayLookLikeAnythingElse) {
  ExpectDocument("kind: server\nname: 123\nseller: yes\naddresses: [10.0.0.1]\n",
                 "server { name: '123' addresses: '10.0.0.1' seller: 'yes' }");
}

TEST(ReadDocumentsTest, KnowsWhereEverythingStands) {
  auto documents = ReadDocuments(R"(kind: server
name: a
addresses:
  - first.org
  - second.org
claim: {gpu_model: 显卡, gpu_memory: 80GB}
)",
                                 "f.yaml");

  ASSERT_TRUE(documents.ok()) << documents.status();
  auto at = [&](const std::string& path) {
    Position position = (*documents)[0].positions.at(path);
    return std::make_pair(position.line, position.column);
  };
  EXPECT_EQ(at(""), std::make_pair(1, 1));
  EXPECT_EQ(at("name"), std::make_pair(2, 7));
  EXPECT_EQ(at("addresses"), std::make_pair(3, 1));
  EXPECT_EQ(at("addresses[1]"), std::make_pair(5, 5));
  EXPECT_EQ(at("claim"), std::make_pair(6, 1));
  // In characters, although the two before it take three bytes each.
  EXPECT_EQ(at("claim.gpu_memory"), std::make_pair(6, 36));
}

TEST(ReadDocumentsTest, SaysWhereAndWhatIsWrong) {
  const struct {
    const char* text;
    const char* expected;
  } kCases[] = {
      // Files and YAML.
      {"", "f.yaml:1:1: there is no document here; begin one with kind: server"},
      {"# only a comment\n", "f.yaml:1:1: there is no document here"},
      {"---\n---\n", "f.yaml:1:1: there is no document here"},
      {"kind: server\nname: [a\n", "f.yaml:3:1: this is not valid YAML: "},
      {"kind: server\nname: 'a\n", "f.yaml:2:7: this quote is not closed"},
      {"kind: server\nname: \"a\\\"\n", "f.yaml:2:7: this quote is not closed"},
      {"kind: server\nname: 'it''s\naddresses: [h]\n", "f.yaml:2:7: this quote is not closed"},
      {"kind: server\n  name: a\n", "f.yaml:2:7: this is not valid YAML: "},
      {"kind: server\nname: *nobody\n", "f.yaml:2:7: this is not valid YAML: "},
      {"kind: server\nclaim:\n\tgpu_count: 1\n", "f.yaml:3:1: a tab indents this line"},
      {"kind: server\nclaim:\n  \tgpu_count: 1\n", "f.yaml:3:3: a tab indents this line"},
      {"kind: server\nname: caf\xe9\n", "f.yaml:2:10: this is not UTF-8 text"},
      {"kind: server\nname: \xed\xa0\x80\n", "f.yaml:2:7: this is not UTF-8 text"},
      {"kind: server\nname: \xc0\xaf\n", "f.yaml:2:7: this is not UTF-8 text"},
      {"kind: server\nname: a\x01\n", "f.yaml:2:8: a control character"},
      {"]\nkind: server\n", "f.yaml:1:1: "},
      {"kind: server\nname: [a]]\n", "f.yaml:2:10: "},
      {",x]\na: b\n", "f.yaml:1:1: this does not belong here"},
      {"kind: server\nname: !!binary abc\n", "YAML tags"},
      {"kind: server\n? [a]\n: b\n", "a key is one word"},
      {"kind: server\nclaim: &c {gpu_model: *c}\n", "stands inside what it names"},
      // Documents.
      {"name: a\n",
       "f.yaml:1:1: a document needs a line such as kind: server; kinds are server, "
       "vantage, profile, plan"},
      {"- a\n", "f.yaml:1:1: a document needs a line such as kind: server"},
      {"hello\n", "f.yaml:1:1: a document needs a line such as kind: server"},
      {"kind: sever\n", "f.yaml:1:7: unknown kind \"sever\"; did you mean \"server\"?"},
      {"kind: Server\n", "f.yaml:1:7: unknown kind \"Server\"; did you mean \"server\"?"},
      {"kind: carrot\n", "f.yaml:1:7: unknown kind \"carrot\"; kinds are server, vantage"},
      {"kind: [server]\n", "f.yaml:1:7: unknown kind"},
      {"kind: server\nname: a\naddresses: [h]\n---\nkind: server\nname: a\naddresses: [h]\n",
       "f.yaml:6:7: server a stands in this file already, on line 2"},
      // Keys.
      {"kind: server\nnmae: a\n",
       "f.yaml:2:1: unknown key \"nmae\" in server; did you mean \"name\"?"},
      {"kind: server\nName: a\n", "did you mean \"name\"?"},
      {"kind: server\ncolour: red\n",
       "f.yaml:2:1: unknown key \"colour\" in server; known keys are name, description, addresses, "
       "claim, time_zone, seller"},
      {"kind: server\nclaim:\n  gpu_memory_bytes: 80GB\n",
       "f.yaml:3:3: unknown key \"gpu_memory_bytes\" in claim; did you mean \"gpu_memory\"?"},
      {"kind: server\n<<: {name: a}\n", "unknown key \"<<\""},
      {"kind: server\nname: a\nname: b\n",
       "f.yaml:3:1: the key \"name\" is here twice, first on line 2"},
      {"kind: server\nkind: vantage\n", "f.yaml:2:1: the key \"kind\" is here twice"},
      {"kind: server\nname:\naddresses: [h]\n", "f.yaml:2:1: name has no value"},
      {"kind: server\nname: ~\naddresses: [h]\n", "f.yaml:2:1: name has no value"},
      {"kind: server\nname: a\naddresses:\n- h\n-\n", "addresses[1] has no value"},
      {"kind: server\naddresses: [h]\n", "f.yaml:1:1: server needs the key \"name\""},
      {"kind: server\nname: a\naddresses: []\n", "f.yaml:1:1: server needs the key \"addresses\""},
      {"kind: server\nname: ''\naddresses: [h]\n", "f.yaml:1:1: server needs the key \"name\""},
      {"kind: vantage\nname: a\n", "f.yaml:1:1: vantage needs the key \"vantage_kind\""},
      // Forms of values.
      {"kind: server\nname: [a]\n", "f.yaml:2:7: name takes a single value"},
      {"kind: server\nname: a\naddresses: h\n", "f.yaml:3:12: addresses is a list"},
      {"kind: server\nname: a\naddresses: {a: b}\n", "f.yaml:3:12: addresses is a list"},
      {"kind: server\nclaim: big\n",
       "f.yaml:2:8: claim takes keys of its own, on indented lines: gpu_model, gpu_count"},
      {"kind: server\nclaim: [1]\n", "f.yaml:2:8: claim takes keys of its own"},
      {"kind: server\nclaim: {gpu_count: -1}\n",
       "f.yaml:2:20: claim.gpu_count cannot be negative; -1 is"},
      {"kind: server\nclaim: {gpu_count: '8'}\n",
       "f.yaml:2:20: claim.gpu_count takes a number; write 8 without quotes"},
      {"kind: server\nclaim: {gpu_count: eight}\n",
       "claim.gpu_count takes a whole number such as 100; \"eight\" is not one"},
      {"kind: server\nclaim: {gpu_count: 8.5}\n", "takes a whole number"},
      {"kind: server\nclaim: {gpu_count: 08}\n", "takes a whole number"},
      {"kind: server\nclaim: {gpu_count: 0x8}\n", "takes a whole number"},
      {"kind: server\nclaim: {gpu_count: 1_000}\n", "takes a whole number"},
      {"kind: server\nclaim: {gpu_count: 4294967296}\n",
       "claim.gpu_count is too large: 4294967296; at most 4294967295"},
      {"kind: server\nclaim: {gpu_count: 99999999999999999999}\n", "is too large"},
      {"kind: server\nclaim: {gpu_memory: 80}\n",
       "f.yaml:2:21: the value 80 has no unit; write it like 80GB"},
      {"kind: server\nclaim: {gpu_memory: 80Gb}\n", "has the unit \"Gb\", which does not fit here"},
      {"kind: server\nclaim: {gpu_memory: -80GB}\n", "claim.gpu_memory cannot be negative"},
      {"kind: server\nclaim: {gpu_memory: 1.5B}\n",
       "claim.gpu_memory must come out as a whole number; 1.5B does not"},
      {"kind: server\nclaim: {gpu_memory: 999999999PB}\n", "claim.gpu_memory is too large"},
      {"kind: vantage\nvantage_kind: offcie\n",
       "f.yaml:2:15: vantage_kind cannot be \"offcie\"; did you mean \"office\"?"},
      {"kind: vantage\nvantage_kind: unspecified\n",
       "vantage_kind cannot be \"unspecified\"; write one of office, carrier, data_source, "
       "overseas, ops"},
      {"kind: vantage\nvantage_kind: VANTAGE_KIND_OFFICE\n", "vantage_kind cannot be"},
      {"kind: vantage\nvantage_kind: 1\n", "vantage_kind cannot be \"1\""},
      // Names and places.
      {"kind: server\nname: a b\naddresses: [h]\n", "f.yaml:2:7: \"a b\" is not a name"},
      {"kind: server\nname: -a\naddresses: [h]\n", "\"-a\" is not a name"},
      {"kind: server\nname: 服务器\naddresses: [h]\n", "\"服务器\" is not a name"},
      {"kind: server\nname: a\naddresses: ['gpu.example.com:22']\n",
       "f.yaml:3:13: \"gpu.example.com:22\" carries a port; write gpu.example.com"},
      {"kind: server\nname: a\naddresses: ['[2001:db8::1]:22']\n",
       "carries a port; write 2001:db8::1,"},
      {"kind: server\nname: a\naddresses: ['https://gpu.example.com/']\n", "is a URL"},
      {"kind: server\nname: a\naddresses: [256.1.1.1]\n",
       "is neither a host name nor an IP address"},
      {"kind: server\nname: a\naddresses: ['a..b']\n", "is neither a host name nor an IP address"},
      {"kind: server\nname: a\naddresses: [h, h]\n", "f.yaml:3:16: h is here twice"},
      {"kind: server\nname: a\naddresses: [h]\ntime_zone: Hong Kong\n",
       "f.yaml:4:12: unknown time zone \"Hong Kong\""},
      {"kind: vantage\nname: a\nvantage_kind: ops\ncarrier: Telecom\n",
       "f.yaml:4:10: \"Telecom\" is not a carrier"},
  };
  for (const auto& c : kCases) EXPECT_THAT(ErrorOf(c.text), HasSubstr(c.expected)) << c.text;
}

TEST(ReadDocumentsTest, EveryErrorBeginsWithItsPlace) {
  for (const char* text : {"", "kind: server\nnmae: a\n", "kind: plan\nname: a\n", "\t- a"}) {
    EXPECT_THAT(ErrorOf(text), StartsWith("f.yaml:")) << text;
  }
}

// A plan that is right; each case spoils one thing.
constexpr char kPlan[] = R"(kind: plan
name: p
servers: [s]
vantages: [a]
time_zone: UTC
windows:
- {name: w, role: peak, intervals: [{start: "19:00", end: "23:00"}]}
- {name: x, role: off_peak, intervals: [{start: "09:00", end: "10:00"}]}
probes:
- name: e
  icmp: {count: 10}
- name: t
  tcp: {port: 22}
criteria:
- id: c
  metric: icmp.loss_ratio
  threshold: 1%
)";

TEST(ReadDocumentsTest, ThePlanThatIsSpoiledBelowIsRight) {
  EXPECT_EQ(OneDocument(kPlan).plan().probes_size(), 2);
}

TEST(ReadDocumentsTest, ChecksPlans) {
  const struct {
    const char* from;
    const char* to;
    const char* expected;
  } kCases[] = {
      {"servers: [s]", "servers: [s, s]", "f.yaml:3:14: s is here twice"},
      {"servers: [s]", "servers: [s, 'b c']", "f.yaml:3:14: \"b c\" is not a name"},
      {"time_zone: UTC", "time_zone: PST", "f.yaml:5:12: unknown time zone \"PST\""},
      {"time_zone: UTC\n", "", "f.yaml:6:3: window w has no time zone"},
      {"time_zone: UTC", "time_zone: UTC\nlength: 400d", "the length of plan p is out of range"},
      {"time_zone: UTC", "time_zone: UTC\nlength: 5", "the duration 5 has no unit"},
      // Windows.
      {"start: \"19:00\"", "start: \"19.00\"",
       "f.yaml:7:45: \"19.00\" is not a time of day; write it like 19:30"},
      {"end: \"23:00\"", "end: \"25:00\"", "f.yaml:7:59: \"25:00\" is not a time of day"},
      {"end: \"23:00\"", "until: \"23:00\"", "unknown key \"until\" in windows[0].intervals[0]"},
      {", end: \"23:00\"", "", "f.yaml:7:37: windows[0].intervals[0] needs the key \"end\""},
      {"role: peak", "role: peek", "windows[0].role cannot be \"peek\"; did you mean \"peak\"?"},
      {"role: peak", "role: peak, days: [mon, mon]", "mon is here twice"},
      {"role: peak", "role: peak, days: [monday]",
       "windows[0].days[0] cannot be \"monday\"; write one of mon, tue, wed, thu, fri, sat, sun"},
      {"role: peak", "role: peak, excluded_dates: [2026-13-01]", "\"2026-13-01\" is not a date"},
      {"role: peak", "role: peak, relative: {length: 5s}", "needs either intervals or relative"},
      {"intervals: [{start: \"19:00\", end: \"23:00\"}]", "relative: {after: 5s}",
       "windows[0].relative needs the key \"length\""},
      {"intervals: [{start: \"19:00\", end: \"23:00\"}]", "relative: {length: -5s}",
       "\"-5s\" is not a duration"},
      {"intervals: [{start: \"19:00\", end: \"23:00\"}]", "relative: {length: 5s}, days: [mon]",
       "window w is relative to the run's start"},
      {"end: \"23:00\"}", "end: \"23:00\"}, {start: \"22:00\", end: \"22:30\"}",
       "f.yaml:7:3: window w opens twice at the same time: 19:00-23:00 and 22:00-22:30 overlap"},
      {"end: \"23:00\"", "end: \"09:01\"",
       "f.yaml:8:3: windows w and x are open together, but one is peak and the other off_peak"},
      {"name: x, role", "name: w, role", "f.yaml:8:10: w is here twice"},
      // Probes.
      {"name: t\n", "name: e\n", "f.yaml:12:9: e is here twice"},
      {"  icmp: {count: 10}\n", "", "f.yaml:10:3: probes[0] needs one of icmp, tcp, http"},
      {"  icmp: {count: 10}\n", "  icmp: {}\n  http: {}\n",
       "f.yaml:12:3: icmp and http exclude one another; keep one of them"},
      {"count: 10", "cuont: 10",
       "unknown key \"cuont\" in probes[0].icmp; did you mean \"count\"?"},
      {"count: 10", "count: 1000000",
       "probes[0].icmp.count is out of range: 1000000; from 0 to 100000"},
      {"count: 10", "interval: 10us",
       "probes[0].icmp.interval is out of range: 10us; from 1ms to 1h"},
      {"count: 10", "timeout: 1h", "probes[0].icmp.timeout is out of range: 1h; from 1ms to 10m"},
      {"count: 10", "payload: 15B", "probes[0].icmp.payload is out of range: 15; from 16 to 65000"},
      {"count: 10", "dscp: 64", "probes[0].icmp.dscp is out of range: 64; from 0 to 63"},
      {"count: 10", "target: 'h:22'", "carries a port"},
      {"port: 22", "port: 65536",
       "f.yaml:13:15: probes[1].tcp.port is out of range: 65536; from 1 to 65535"},
      {"port: 22", "port: '22'", "probes[1].tcp.port takes a number; write 22 without quotes"},
      {"{port: 22}", "{}", "f.yaml:13:3: probes[1].tcp needs the key \"port\""},
      {"tcp: {port: 22}", "http: {path: index.html}", "\"index.html\" is not a path"},
      {"tcp: {port: 22}", "http: {path: /a b}", "\"/a b\" is not a path"},
      {"tcp: {port: 22}", "http: {scheme: ftp}",
       "probes[1].http.scheme cannot be \"ftp\"; write one of http, https"},
      {"tcp: {port: 22}", "http: {expect_status: [99]}",
       "probes[1].http.expect_status[0] is out of range"},
      {"tcp: {port: 22}", "http: {insecure: yes}",
       "probes[1].http.insecure is either true or false"},
      {"tcp: {port: 22}", "http: {insecure: 'true'}", "is either true or false, without quotes"},
      {"port: 22}", "port: 22}\n  repetitions: 100001", "probes[1].repetitions is out of range"},
      {"port: 22}", "port: 22}\n  windows: [y]",
       "f.yaml:14:13: the plan has no window \"y\"; it has w, x"},
      {"port: 22}", "port: 22}\n  windows: [w, w]", "f.yaml:14:16: w is here twice"},
      {"port: 22}", "port: 22}\n  from: {vantages: [b]}",
       "the plan has no vantage \"b\"; it has a"},
      {"port: 22}", "port: 22}\n  from: {server: true, vantages: [a]}",
       "probe t runs on the server itself"},
      {"vantages: [a]\n", "", "probe e runs from vantages, but the plan lists none"},
      // Criteria.
      {"icmp.loss_ratio", "icmp.los_ratio",
       "f.yaml:16:11: unknown metric \"icmp.los_ratio\"; did you mean \"icmp.loss_ratio\"?"},
      {"icmp.loss_ratio", "speed",
       "unknown metric \"speed\"; metrics are icmp.loss_ratio, icmp.rtt_ms"},
      {"icmp.loss_ratio", "http.failure_ratio",
       "f.yaml:16:11: no probe of the plan yields http.failure_ratio; add a probe of the kind "
       "http"},
      {"threshold: 1%", "threshold: 1ms",
       "f.yaml:17:14: \"1ms\" has the unit \"ms\", which does not fit here; write it like 1%"},
      {"threshold: 1%", "threshold: 1", "f.yaml:17:14: 1 could mean 1 % or 100 %"},
      {"  threshold: 1%\n", "", "f.yaml:15:3: criteria[0] needs the key \"threshold\""},
      {"1%", "1%\n  statistic: median",
       "icmp.loss_ratio has no statistic \"median\"; write one of ratio"},
      {"icmp.loss_ratio\n  threshold: 1%", "icmp.rtt_ms\n  threshold: 60ms\n  statistic: ratio",
       "icmp.rtt_ms has no statistic \"ratio\"; write one of mean, median, p90, p95, p99"},
      {"1%", "1%\n  confidence: 50%", "f.yaml:18:15: confidence 50% is out of range"},
      {"1%", "1%\n  confidence: 100%", "confidence 100% is out of range"},
      {"1%", "1%\n  confidence: 95", "95 is more than 100 %"},
      {"1%", "1%\n  per: [pooled, vantage]", "pooled stands alone"},
      {"1%", "1%\n  per: [vantage, vantage]", "names a grouping twice"},
      {"1%", "1%\n  where: {windows: [y]}", "the plan has no window \"y\"; it has w, x"},
      {"1%", "1%\n  where: {vantages: [b]}", "the plan has no vantage \"b\"; it has a"},
      {"1%", "1%\n  where: {probes: [z]}", "the plan has no probe \"z\"; it has e, t"},
      {"1%", "1%\n  where: {probes: [e, t]}",
       "f.yaml:18:23: probe t does not yield icmp.loss_ratio"},
      {"1%", "1%\n- {id: c, metric: icmp.rtt_ms, threshold: 60ms}", "f.yaml:18:8: c is here twice"},
      {"1%", "1%\n  reasn: x", "unknown key \"reasn\" in criteria[0]; did you mean \"reason\"?"},
  };
  for (const auto& c : kCases) {
    std::string text = kPlan;
    size_t at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from;
    text.replace(at, strlen(c.from), c.to);
    EXPECT_THAT(ErrorOf(text), HasSubstr(c.expected)) << c.to;
  }
}

TEST(ReadDocumentsTest, AcceptsWhatOnlyLooksWrong) {
  const struct {
    const char* from;
    const char* to;
  } kCases[] = {
      // Roles that say nothing, and zones that differ, may be open together.
      {"role: peak, ", ""},
      {"name: x, role: off_peak", "name: x, role: off_peak, time_zone: Asia/Shanghai"},
      {"end: \"23:00\"", "end: \"09:00\""},
      {"1%", "1%\n  confidence: 0.9"},
      {"1%", "1%\n  per: [pooled]"},
      {"port: 22}", "port: 22}\n  from: {}"},
      {"vantages: [a]\n", "vantages: [a, b]\n"},
  };
  for (const auto& c : kCases) {
    std::string text = kPlan;
    text.replace(text.find(c.from), strlen(c.from), c.to);
    EXPECT_EQ(ErrorOf(text), "accepted") << c.to;
  }
}

TEST(ReadDocumentsTest, StopsAtBombs) {
  std::string bomb = "kind: server\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    std::string last = absl::StrCat("*a", i - 1);
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [", last);
    for (int j = 0; j < 9; ++j) absl::StrAppend(&bomb, ", ", last);
    absl::StrAppend(&bomb, "]\n");
  }
  EXPECT_THAT(ErrorOf(bomb), HasSubstr("more than 50000 values"));

  EXPECT_THAT(ErrorOf(absl::StrCat("kind: server\nname: ", std::string(40, '['))),
              HasSubstr("nested more than 32 levels deep"));
  EXPECT_THAT(ErrorOf(std::string(100000, '[')), HasSubstr("f.yaml:1:"));
  EXPECT_THAT(ErrorOf(std::string(100000, '{')), HasSubstr("f.yaml:1:"));
  EXPECT_THAT(ErrorOf(std::string((1 << 20) + 1, ' ')), HasSubstr("larger than 1 MiB"));

  std::string wide = "kind: server\naddresses:\n";
  for (int i = 0; i < 60000; ++i) absl::StrAppend(&wide, "- h", i, "\n");
  EXPECT_THAT(ErrorOf(wide), HasSubstr("more than 50000 values"));
}

TEST(ReadDocumentsTest, IsCompleteInChinese) {
  auto documents = ReadDocuments("kind: server\nnmae: a\n", "f.yaml");
  EXPECT_EQ(Render(Language::kChinese, documents.status()),
            "f.yaml:2:1: server 中有未知的键“nmae”；是否想写“name”？");
}

}  // namespace
}  // namespace assay::document
