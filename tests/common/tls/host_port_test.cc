#include <gtest/gtest.h>

#include "common/tls/dial.h"

namespace assay::tls {
namespace {

struct HostPortCase {
  const char* text;
  const char* host;  // nullptr: refused
  int port;
  const char* written;
};

class HostPortTest : public ::testing::TestWithParam<HostPortCase> {};

TEST_P(HostPortTest, IsReadAndWritten) {
  auto parsed = ParseHostPort(GetParam().text);

  if (GetParam().host == nullptr) {
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << GetParam().text;
    return;
  }
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->host, GetParam().host);
  EXPECT_EQ(parsed->port, GetParam().port);
  EXPECT_EQ(parsed->ToString(), GetParam().written);
}

INSTANTIATE_TEST_SUITE_P(
    All, HostPortTest,
    ::testing::Values(HostPortCase{"c.example", "c.example", 7443, "c.example:7443"},
                      HostPortCase{"c.example:1", "c.example", 1, "c.example:1"},
                      HostPortCase{"10.0.0.1:65535", "10.0.0.1", 65535, "10.0.0.1:65535"},
                      HostPortCase{"[::1]:443", "::1", 443, "[::1]:443"},
                      HostPortCase{"[::1]", "::1", 7443, "[::1]:7443"},
                      HostPortCase{"2001:db8::1", "2001:db8::1", 7443, "[2001:db8::1]:7443"},
                      HostPortCase{"[fe80::1%eth0]:5", "fe80::1%eth0", 5, "[fe80::1%eth0]:5"},
                      HostPortCase{"a_b-c", "a_b-c", 7443, "a_b-c:7443"}, HostPortCase{"", nullptr},
                      HostPortCase{":7443", nullptr}, HostPortCase{"c:", nullptr},
                      HostPortCase{"c:0", nullptr}, HostPortCase{"c:65536", nullptr},
                      HostPortCase{"c:+1", nullptr}, HostPortCase{"c:1 ", nullptr},
                      HostPortCase{" c", nullptr}, HostPortCase{"c:1:2", nullptr},
                      HostPortCase{"https://c", nullptr}, HostPortCase{"c/x", nullptr},
                      HostPortCase{"[::1", nullptr}, HostPortCase{"[::1]7", nullptr},
                      HostPortCase{"[c]:1", nullptr}, HostPortCase{"[::1%]:1", nullptr},
                      HostPortCase{"主机", nullptr}, HostPortCase{"a\nb", nullptr},
                      HostPortCase{"u@c", nullptr}));

TEST(HostPortTest, DefaultPortIsTheCallers) { EXPECT_EQ(ParseHostPort("p", 80)->port, 80); }

TEST(HostPortTest, LongNamesAreRefused) {
  EXPECT_TRUE(ParseHostPort(std::string(253, 'a')).ok());
  EXPECT_FALSE(ParseHostPort(std::string(254, 'a')).ok());
}

}  // namespace
}  // namespace assay::tls
