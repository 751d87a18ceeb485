#include "core/document/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/v1/model.pb.h"
#include "google/protobuf/text_format.h"

namespace assay::document {
namespace {

template <typename M>
std::vector<std::string> Changes(const std::string& before, const std::string& after) {
  M a, b;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(before, &a)) << before;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(after, &b)) << after;
  EXPECT_TRUE(DescribeChanges(a, a).empty());
  EXPECT_TRUE(DescribeChanges(b, b).empty());
  return DescribeChanges(a, b);
}

TEST(DescribeChangesTest, OfAServer) {
  using Lines = std::vector<std::string>;
  const struct {
    const char* before;
    const char* after;
    Lines expected;
  } kCases[] = {
      {"name: 's'", "name: 's'", {}},
      {"claim { gpu_count: 4 }", "claim { gpu_count: 8 }", {"claim.gpu_count: 4 -> 8"}},
      {"claim { gpu_memory_bytes: 48000000000 }",
       "claim { gpu_memory_bytes: 80000000000 }",
       {"claim.gpu_memory: 48GB -> 80GB"}},
      {"", "seller: 'Example Ltd'", {"seller: - -> \"Example Ltd\""}},
      {"seller: 'a'", "", {"seller: \"a\" -> -"}},
      {"seller: 'a\\nb'", "seller: '服务\\\"'", {"seller: \"a\\nb\" -> \"服务\\\"\""}},
      {"addresses: 'h1'", "addresses: 'h1' addresses: '::1'", {"addresses: [h1] -> [h1, \"::1\"]"}},
      {"", "claim { gpu_count: 1 }", {"+ claim", "claim.gpu_count: - -> 1"}},
      {"claim { gpu_count: 1 }", "", {"- claim"}},
      {"", "claim {}", {"+ claim"}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Changes<v1::Server>(c.before, c.after), c.expected) << c.after;
  }
}

TEST(DescribeChangesTest, OfAPlan) {
  using Lines = std::vector<std::string>;
  const struct {
    const char* before;
    const char* after;
    Lines expected;
  } kCases[] = {
      {"probes { name: 'echo' icmp { count: 100 } }",
       "probes { name: 'echo' icmp { count: 200 } }",
       {"probes[echo].icmp.count: 100 -> 200"}},
      {"probes { name: 'echo' icmp { interval { nanos: 50000000 } } }",
       "probes { name: 'echo' icmp {} }",
       {"probes[echo].icmp.interval: 50ms -> -"}},
      {"probes { name: 'echo' icmp {} }",
       "probes { name: 'echo' tcp { port: 22 } }",
       {"- probes[echo].icmp", "+ probes[echo].tcp", "probes[echo].tcp.port: - -> 22"}},
      {"probes { name: 'old' icmp {} } probes { name: 'kept' icmp {} }",
       "probes { name: 'kept' icmp {} } probes { name: 'new' icmp { count: 3 } }",
       {"- probes[old]", "+ probes[new]"}},
      {"probes { name: 'a' icmp {} } probes { name: 'b' icmp {} }",
       "probes { name: 'b' icmp {} } probes { name: 'a' icmp { count: 3 } }",
       {"probes[a].icmp.count: - -> 3", "probes: [a, b] -> [b, a]"}},
      {"windows { name: 'w' intervals { start: '19:00' end: '22:00' } }",
       "windows { name: 'w' intervals { start: '19:00' end: '23:00' } "
       "          intervals { start: '08:00' end: '09:00' } }",
       {"windows[w].intervals[0].end: \"22:00\" -> \"23:00\"", "+ windows[w].intervals[1]"}},
      {"windows { name: 'w' role: WINDOW_ROLE_PEAK days: WEEKDAY_MON }",
       "windows { name: 'w' role: WINDOW_ROLE_OFF_PEAK days: WEEKDAY_MON days: WEEKDAY_TUE }",
       {"windows[w].role: peak -> off_peak", "windows[w].days: [mon] -> [mon, tue]"}},
      {"criteria { id: 'loss' threshold: '1%' confidence_ratio: 0.95 }",
       "criteria { id: 'loss' threshold: '2%' confidence_ratio: 0.99 where { windows: 'w' } }",
       {"criteria[loss].threshold: \"1%\" -> \"2%\"", "+ criteria[loss].where",
        "criteria[loss].where.windows: [] -> [w]", "criteria[loss].confidence: 95% -> 99%"}},
      {"probes { name: 'h' http { insecure: true } from { server: true } }",
       "probes { name: 'h' http { } from { } }",
       {"probes[h].http.insecure: true -> -", "probes[h].from.server: true -> -"}},
      {"length { seconds: 604800 } seed: 1",
       "length { seconds: 5400 } seed: 18446744073709551615",
       {"length: 7d -> 1h30m", "seed: 1 -> 18446744073709551615"}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Changes<v1::Plan>(c.before, c.after), c.expected) << c.after;
  }
}

}  // namespace
}  // namespace assay::document
