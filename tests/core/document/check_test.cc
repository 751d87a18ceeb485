#include "core/document/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/protobuf/text_format.h"

namespace assay::document {
namespace {

using ::testing::HasSubstr;

v1::Document DocumentOf(const std::string& text) {
  v1::Document document;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &document)) << text;
  return document;
}

constexpr char kPlanText[] =
    "plan { name: 'p' servers: 's' vantages: 'a' time_zone: 'UTC' "
    "windows { name: 'w' intervals { start: '19:00' end: '23:00' } } "
    "probes { name: 'e' icmp {} } ";

// What no YAML file can hold, but a message that came by RPC may.
TEST(CheckTest, DocumentsFromElsewhere) {
  const struct {
    std::string text;
    const char* expected;
  } kCases[] = {
      {"", "there is no document here"},
      {"vantage { name: 'a' kind: 77 }",
       "vantage a, vantage_kind: vantage_kind cannot be \"77\"; write one of office"},
      {"server { name: 'a' addresses: '' }", "server a, addresses[0]: addresses[0] has no value"},
      {std::string(kPlanText) + "length { seconds: -5 } }", "length is out of range: -5s"},
      {std::string(kPlanText) + "length { nanos: -5 } }", "length is out of range"},
      {std::string(kPlanText) + "length { seconds: 1 nanos: 2000000000 } }",
       "length is out of range"},
      {std::string(kPlanText) + "criteria { id: 'c' metric: 'icmp.loss_ratio' threshold: '1%' "
                                "confidence_ratio: nan } }",
       "plan p, criteria[0].confidence: criteria[0].confidence is out of range: nan"},
      {std::string(kPlanText) + "criteria { id: 'c' metric: 'icmp.loss_ratio' threshold: '1%' "
                                "confidence_ratio: -1 } }",
       "confidence is out of range: -1"},
      {std::string(kPlanText) + "criteria { id: 'c' metric: 'icmp.loss_ratio' threshold: '1%' "
                                "per: 0 } }",
       "criteria[0].per[0] cannot be \"0\""},
      {"server { name: 'a' addresses: 'h' description: '" + std::string(4001, 'x') + "' }",
       "description is longer than 4000 bytes"},
  };
  for (const auto& c : kCases) {
    absl::Status status = Check(DocumentOf(c.text));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.expected));
  }
}

TEST(CheckTest, ADocumentThatIsRight) {
  absl::Status status = Check(DocumentOf(std::string(kPlanText) + "}"));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(CheckAgainstPlanTest, ProfilesNameWhatThePlanHas) {
  v1::Plan plan = DocumentOf(std::string(kPlanText) + "}").plan();
  const struct {
    const char* criterion;
    const char* expected;  // nullptr: accepted
  } kCases[] = {
      {"metric: 'icmp.loss_ratio'", nullptr},
      {"metric: 'icmp.loss_ratio' where { windows: 'w' probes: 'e' vantages: 'a' }", nullptr},
      {"metric: 'tcp.failure_ratio'",
       "plan p, profile base, criteria[0].metric: no probe of the plan yields tcp.failure_ratio"},
      {"metric: 'icmp.loss_ratio' where { windows: 'evening' }",
       "plan p, profile base, criteria[0].where.windows[0]: the plan has no window \"evening\""},
  };
  for (const auto& c : kCases) {
    v1::Document profile = DocumentOf(std::string("profile { name: 'base' criteria { id: 'c' "
                                                  "threshold: '1%' ") +
                                      c.criterion + "} }");
    // On its own it is right in any case: it is made for several plans.
    EXPECT_TRUE(Check(profile).ok()) << Check(profile);
    absl::Status status = CheckAgainstPlan(profile.profile(), plan);
    EXPECT_EQ(status.ok(), c.expected == nullptr) << status;
    if (c.expected != nullptr) {
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.expected));
    }
  }
}

TEST(KindOfTest, NamesTheDocument) {
  v1::Document document = DocumentOf("vantage { name: 'sz' }");
  EXPECT_EQ(KindOf(document), "vantage");
  EXPECT_EQ(NameOf(document), "sz");
  EXPECT_EQ(KindOf(v1::Document()), "");
  EXPECT_EQ(NameOf(v1::Document()), "");
}

TEST(IsNameTest, Names) {
  for (const char* name : {"a", "hk-gpu-01", "A.b_c-9", "9"}) EXPECT_TRUE(IsName(name)) << name;
  for (const char* name : {"", "-a", ".a", "_a", "a b", "a/b", "a\n", "名"}) {
    EXPECT_FALSE(IsName(name)) << name;
  }
  EXPECT_TRUE(IsName(std::string(63, 'a')));
  EXPECT_FALSE(IsName(std::string(64, 'a')));
}

TEST(IsHostTest, HostsAndAddresses) {
  for (const char* host : {"localhost", "gpu.example.com", "a-b.c_d.e", "127.0.0.1", "::1",
                           "2001:db8::1", "::ffff:192.0.2.1", "1and1.com", "9a"}) {
    EXPECT_TRUE(IsHost(host)) << host;
  }
  for (const char* host :
       {"", ".", "a.", ".a", "a..b", "-a.com", "a-.com", "a b", "1.2.3", "1.2.3.4.5", "256.1.1.1",
        "12", "[::1]", "fe80::1%eth0", "h:22", "a/b", "例子.com"}) {
    EXPECT_FALSE(IsHost(host)) << host;
  }
  EXPECT_FALSE(IsHost(std::string(64, 'a')));
  EXPECT_FALSE(IsHost(std::string(300, 'a')));
  EXPECT_FALSE(IsHost(absl::string_view("a\0b", 3)));
  EXPECT_FALSE(IsHost(absl::string_view("127.0.0.1\0x", 11)));
}

}  // namespace
}  // namespace assay::document
