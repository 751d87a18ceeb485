#include "agent/guard/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/files/files.h"

namespace assay::guard {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kServers = {"gpu.example.com", "203.0.113.7", "2001:db8::7"};

struct HostCase {
  const char* yaml;
  const char* host;
  const char* refusal;  // message id; "" for allowed
};

TEST(GuardTest, DecidesHosts) {
  const HostCase cases[] = {
      // No rules: the plan's servers and nothing else.
      {"", "gpu.example.com", ""},
      {"", "GPU.Example.COM.", ""},
      {"", "203.0.113.7", ""},
      {"", "2001:DB8:0::7", ""},
      {"", "[2001:db8::7]", ""},
      {"", "::ffff:203.0.113.7", ""},
      {"", "203.0.113.8", "guard.not_a_server"},
      {"", "example.com", "guard.not_a_server"},
      {"", "", "guard.not_a_server"},
      // deny wins, over the plan and over allow.
      {"targets: {deny: [gpu.example.com]}", "GPU.example.com", "guard.denied"},
      {"targets: {deny: ['*.example.com']}", "gpu.example.com", "guard.denied"},
      {"targets: {deny: ['*.EXAMPLE.com']}", "gpu.example.com.", "guard.denied"},
      {"targets: {deny: ['*.ample.com']}", "gpu.example.com", ""},
      {"targets: {deny: ['*.gpu.example.com']}", "gpu.example.com", ""},
      {"targets: {deny: ['203.0.113.0/29']}", "203.0.113.7", "guard.denied"},
      {"targets: {deny: ['203.0.113.0/29']}", "::ffff:203.0.113.7", "guard.denied"},
      {"targets: {deny: ['203.0.113.8/29']}", "203.0.113.7", ""},
      {"targets: {allow: [gpu.example.com], deny: [gpu.example.com]}", "gpu.example.com",
       "guard.denied"},
      // allow is the whole list.
      {"targets: {allow: ['*.example.org']}", "gpu.example.com", "guard.not_allowed"},
      {"targets: {allow: ['*.example.org']}", "a.b.example.org", ""},
      {"targets: {allow: ['*.example.org']}", "example.org", "guard.not_allowed"},
      {"targets: {allow: ['*.example.org']}", "203.0.113.7", "guard.not_allowed"},
      {"targets: {allow: ['198.51.100.0/24']}", "198.51.100.9", ""},
      {"targets: {allow: ['198.51.100.0/24']}", "203.0.113.7", "guard.not_allowed"},
      {"targets: {allow: []}", "gpu.example.com", "guard.not_allowed"},
      {"targets: {allow: []}", "203.0.113.7", "guard.not_allowed"},
      // Addresses decide about a name where the list has prefixes.
      {"targets: {allow: ['198.51.100.0/24']}", "gpu.example.com", ""},
      // Only probes restricted: targets as by default.
      {"probes: [icmp]", "gpu.example.com", ""},
  };
  for (const HostCase& c : cases) {
    absl::Status status = ParseGuard(c.yaml, "agent.yaml")->CheckHost(c.host, kServers);
    std::string id = status.ok() ? "" : MessageOf(status).value_or(v1::Message()).id();
    EXPECT_EQ(id, c.refusal) << c.yaml << " | " << c.host << " | " << status;
    EXPECT_TRUE(status.ok() || absl::IsPermissionDenied(status)) << status;
  }
}

struct ResolvedCase {
  const char* yaml;
  const char* host;
  const char* address;
  const char* refusal;
};

TEST(GuardTest, DecidesResolvedAddresses) {
  const ResolvedCase cases[] = {
      {"", "gpu.example.com", "203.0.113.7", ""},
      {"", "gpu.example.com", "127.0.0.1", ""},
      // A name whose address is denied.
      {"targets: {deny: ['10.0.0.0/8']}", "gpu.example.com", "10.1.2.3", "guard.denied_address"},
      {"targets: {deny: ['10.0.0.0/8']}", "gpu.example.com", "::ffff:10.1.2.3",
       "guard.denied_address"},
      {"targets: {deny: ['10.0.0.0/8']}", "gpu.example.com", "64:ff9b::a01:203",
       "guard.denied_address"},
      {"targets: {deny: ['10.0.0.0/8']}", "gpu.example.com", "64:ff9b::b01:203", ""},
      {"targets: {deny: ['::1']}", "gpu.example.com", "::1", "guard.denied_address"},
      {"targets: {allow: [gpu.example.com], deny: ['127.0.0.0/8']}", "gpu.example.com", "127.0.0.1",
       "guard.denied_address"},
      {"targets: {deny: ['10.0.0.0/8']}", "10.1.2.3", "10.1.2.3", "guard.denied"},
      // allow by name lets the address be any, allow by prefix doesn't.
      {"targets: {allow: [gpu.example.com]}", "GPU.example.com.", "203.0.113.7", ""},
      {"targets: {allow: ['198.51.100.0/24']}", "gpu.example.com", "198.51.100.1", ""},
      {"targets: {allow: ['198.51.100.0/24']}", "gpu.example.com", "203.0.113.7",
       "guard.address_not_allowed"},
      // Never a target ...
      {"", "gpu.example.com", "224.0.0.1", "guard.multicast"},
      {"", "gpu.example.com", "239.255.255.255", "guard.multicast"},
      {"", "gpu.example.com", "ff02::1", "guard.multicast"},
      {"", "gpu.example.com", "255.255.255.255", "guard.broadcast"},
      {"", "gpu.example.com", "0.0.0.0", "guard.unspecified"},
      {"", "gpu.example.com", "::", "guard.unspecified"},
      {"", "gpu.example.com", "169.254.169.254", "guard.link_local"},
      {"", "gpu.example.com", "::ffff:169.254.169.254", "guard.link_local"},
      {"", "gpu.example.com", "64:ff9b::a9fe:a9fe", "guard.link_local"},
      {"", "gpu.example.com", "fe80::1%eth0", "guard.link_local"},
      {"", "gpu.example.com", "febf::1", "guard.link_local"},
      {"", "gpu.example.com", "fec0::1", ""},
      {"", "gpu.example.com", "240.0.0.1", ""},
      {"targets: {allow: [gpu.example.com]}", "gpu.example.com", "169.254.169.254",
       "guard.link_local"},
      {"targets: {allow: ['0.0.0.0/0']}", "gpu.example.com", "169.254.169.254", "guard.link_local"},
      {"targets: {allow: ['0.0.0.0/0']}", "169.254.169.254", "169.254.169.254", "guard.link_local"},
      // ... unless a rule or the plan says just that.
      {"targets: {allow: ['169.254.1.0/24']}", "gpu.example.com", "169.254.1.9", ""},
      {"targets: {allow: ['169.254.1.0/24']}", "gpu.example.com", "169.254.2.9",
       "guard.link_local"},
      {"", "fe80::1%eth0", "fe80::1%eth0", ""},
      {"", "169.254.3.3", "169.254.3.3", ""},
      // Not an address at all.
      {"", "gpu.example.com", "gpu.example.com", "guard.not_numeric"},
      {"", "gpu.example.com", "127.1", "guard.not_numeric"},
      {"", "gpu.example.com", "", "guard.not_numeric"},
  };
  for (const ResolvedCase& c : cases) {
    absl::Status status = ParseGuard(c.yaml, "agent.yaml")->CheckAddress(c.host, c.address);
    std::string id = status.ok() ? "" : MessageOf(status).value_or(v1::Message()).id();
    EXPECT_EQ(id, c.refusal) << c.yaml << " | " << c.host << " -> " << c.address;
  }
}

TEST(GuardTest, DecidesProbes) {
  EXPECT_TRUE(ParseGuard("", "agent.yaml")->CheckProbe("http").ok());
  auto guard = ParseGuard("probes: [icmp, tcp]", "agent.yaml");
  EXPECT_TRUE(guard->CheckProbe("tcp").ok());
  EXPECT_FALSE(guard->CheckProbe("http").ok());
  EXPECT_FALSE(ParseGuard("probes: []", "agent.yaml")->CheckProbe("icmp").ok());
}

TEST(GuardTest, ARefusalNamesTheRuleAndItsPlace) {
  auto guard = ParseGuard("targets:\n  deny:\n    - 198.51.100.0/24\n    - '*.example.com'\n",
                          "/etc/assay/agent.yaml");
  absl::Status status = guard->CheckHost("gpu.example.com", kServers);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("\"*.example.com\" (/etc/assay/agent.yaml:4)"));
  EXPECT_THAT(Render(Language::kChinese, status), HasSubstr("被规则“*.example.com”"));
}

struct BrokenCase {
  const char* yaml;
  int line;
  const char* id;
};

TEST(BrokenGuardTest, DeniesEverythingAndSaysWhere) {
  const BrokenCase cases[] = {
      {"targets:\n  allow: [a.example]\n  alow: []\n", 3, "guard.unknown_key"},
      {"target: {}\n", 1, "guard.unknown_key"},
      {"probes: [icmp]\n\nprobes: [tcp]\n", 3, "guard.duplicate_key"},
      {"targets:\n  deny: ['10.0.0.0/33']\n", 2, "guard.bad_cidr"},
      {"targets:\n  deny: ['10.0.0.1/8']\n", 2, "guard.host_bits"},
      {"targets:\n  deny:\n    - 10.0.0.0/8\n    - 10.0.0.256\n", 4, "guard.bad_pattern"},
      {"targets:\n  deny: ['2001:db8::g/32']\n", 2, "guard.bad_cidr"},
      {"targets:\n  allow: ['a.*.example']\n", 2, "guard.bad_pattern"},
      {"targets:\n  allow: ['*']\n", 2, "guard.bad_pattern"},
      {"targets:\n  allow: ['*.']\n", 2, "guard.bad_pattern"},
      {"targets:\n  allow: ['https://a.example']\n", 2, "guard.bad_cidr"},
      {"targets:\n  allow: ['']\n", 2, "guard.bad_pattern"},
      {"targets:\n  allow: 203.0.113.0/24\n", 2, "guard.not_a_list"},
      {"targets:\n  allow:\n", 2, "guard.not_a_list"},
      {"targets:\n  allow: [[a.example]]\n", 2, "guard.not_a_text"},
      {"targets:\n  allow: [~]\n", 2, "guard.not_a_text"},
      {"targets: [a.example]\n", 1, "guard.not_a_map"},
      {"targets:\n", 1, "guard.not_a_map"},
      {"- a\n", 1, "guard.not_a_map"},
      {"just text\n", 1, "guard.not_a_map"},
      {"probes: [icmp,\n  ping]\n", 2, "guard.unknown_probe"},
      {"probes: icmp\n", 1, "guard.not_a_list"},
      {"targets: {allow: [a.example]\nprobes: ]\n", 2, "guard.syntax"},
      {"targets: *nowhere\n", 1, "guard.syntax"},
      {"probes: [icmp]\n---\nprobes: [tcp]\n", 3, "guard.many_documents"},
  };
  for (const BrokenCase& c : cases) {
    auto guard = ParseGuard(c.yaml, "agent.yaml");
    for (const absl::Status& status :
         {guard->CheckHost("gpu.example.com", kServers),
          guard->CheckAddress("203.0.113.7", "203.0.113.7"), guard->CheckProbe("icmp")}) {
      ASSERT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << c.yaml;
      EXPECT_EQ(MessageOf(status).value_or(v1::Message()).id(), c.id) << c.yaml << status;
      EXPECT_THAT(std::string(status.message()),
                  StartsWith(absl::StrCat("agent.yaml:", c.line, ":")))
          << c.yaml;
    }
  }
}

class LoadGuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/assay-guard-XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    directory_ = pattern;
    path_ = absl::StrCat(directory_, "/agent.yaml");
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }
  std::string directory_, path_;
};

TEST_F(LoadGuardTest, WithoutAFileThePlansServersAreAllowed) {
  EXPECT_TRUE(LoadGuard("")->CheckHost("203.0.113.7", kServers).ok());
  EXPECT_TRUE(LoadGuard(path_)->CheckHost("203.0.113.7", kServers).ok());
  EXPECT_FALSE(LoadGuard(path_)->CheckHost("203.0.113.9", kServers).ok());
}

TEST_F(LoadGuardTest, ReadsTheFile) {
  ASSERT_TRUE(files::WriteAtomically(path_, "# the owner's\nprobes: [tcp]\n", 0600).ok());
  absl::Status status = LoadGuard(path_)->CheckProbe("icmp");
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat(path_, ":2")));
}

TEST_F(LoadGuardTest, ACommentOnlyFileIsTheDefault) {
  ASSERT_TRUE(files::WriteAtomically(path_, "# nothing yet\n", 0600).ok());
  EXPECT_TRUE(LoadGuard(path_)->CheckHost("203.0.113.7", kServers).ok());
}

TEST_F(LoadGuardTest, WhatCannotBeReadDenies) {
  absl::Status status = LoadGuard(directory_)->CheckHost("203.0.113.7", kServers);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(MessageOf(status).value_or(v1::Message()).id(), "guard.unreadable");
}

TEST(AllowAllTest, AllowsEverything) {
  auto guard = AllowAll();
  EXPECT_TRUE(guard->CheckHost("anything", {}).ok());
  EXPECT_TRUE(guard->CheckAddress("anything", "169.254.169.254").ok());
  EXPECT_TRUE(guard->CheckProbe("icmp").ok());
}

}  // namespace
}  // namespace assay::guard
