// The scenario reader: what it refuses, and where it says so.
#include "tests/pathsim/scenario/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace assay::pathsim {
namespace {

using ::testing::HasSubstr;

TEST(ReaderTest, ErrorsNameThePlaceAndTheReason) {
  struct Case {
    const char* rest;
    const char* place;
    const char* reason;
  };
  for (const Case& c : std::vector<Case>{
           {"hops: [{v4: 203.0.113.1, colour: red}]", "x:3:26: ", "unknown key 'colour'"},
           {"hops: [{v4: '2001:db8::1'}]", "x:3:13: ", "is not IPv4"},
           {"hops: [{v4: 203.0.113}]", "x:3:13: ", "is no address"},
           {"hops: [{forward: {loss: 101%}}]", "x:3:25: ", "101%"},
           {"hops: [{forward: {delay: 5}}]", "x:3:26: ", "5"},
           {"hops: [{forward: {loss: {ratio: 1%, every: 3}}}]", "x:3:25: ", "write one of"},
           {"hops: [{forward: {loss: {packets: 0}}}]", "x:3:35: ", "ordinal from 1"},
           {"hops: [{name: a}, b]", "x:3:19: ", "no hop named 'b'"},
           {"hops: [{name: a}, {name: a}]", "x:3:19: ", "the name 'a' is taken"},
           {"hops: [{icmp: {quote: half}}]", "x:3:15: ", "'quote' is"},
           {"hops: [{icmp: {mpls: [{label: 1048576}]}}]", "x:3:31: ", "from 0 to 1048575"},
           {"hops: [{return_via: r}]", "x:1:1: ", "'r' is on no return_hops"},
           {"changes: [{hops: []}]", "x:3:11: ", "at and after_packets"},
           {"hops: [{equal_cost: []}]", "x:3:8: ", "branches"},
           {"hops: [{forward: {jitter: {distribution: bell}}}]", "x:3:27: ", "lognormal"},
           {"seed: 1\nseed: 2", "x:4:1: ", "written twice"}}) {
    absl::Status status =
        ReadScenario(
            absl::StrCat("near: {addresses: 192.0.2.1}\nfar: {addresses: 192.0.2.2}\n", c.rest),
            "x")
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.rest;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.place)) << c.rest;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.reason)) << c.rest;
  }
}

TEST(ReaderTest, ExamplesAreReadable) {
  int read = 0;
  for (const auto& file : std::filesystem::directory_iterator(
           absl::StrCat(ASSAY_SOURCE_DIR, "/tests/pathsim/scenarios"))) {
    absl::StatusOr<Scenario> scenario = ReadScenarioFile(file.path().string());
    EXPECT_TRUE(scenario.ok()) << scenario.status();
    ++read;
  }
  EXPECT_GE(read, 3);
}

}  // namespace
}  // namespace assay::pathsim
