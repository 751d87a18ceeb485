#include "agent/guard/address.h"

#include <gtest/gtest.h>

namespace assay::guard {
namespace {

struct AddressCase {
  const char* text;
  const char* canonical;  // nullptr: no address
};

TEST(AddressTest, ReadsNumericAddressesOnly) {
  const AddressCase cases[] = {
      {"192.0.2.1", "192.0.2.1"},
      {"2001:DB8:0:0::1", "2001:db8::1"},
      {"[2001:db8::1]", "2001:db8::1"},
      {"::ffff:192.0.2.1", "192.0.2.1"},
      {"::FFFF:c000:201", "192.0.2.1"},
      {"fe80::1%eth0", "fe80::1"},
      {"fe80::1%", nullptr},
      {"192.0.2.1%eth0", nullptr},
      {"[192.0.2.1", nullptr},
      {"127.1", nullptr},
      {"2130706433", nullptr},
      {"0x7f.0.0.1", nullptr},
      {"192.0.2.256", nullptr},
      {"192.0.2.01", nullptr},
      {"1:2:3:4:5:6:7", nullptr},
      {"example.com", nullptr},
      {"", nullptr},
  };
  for (const AddressCase& c : cases) {
    std::optional<IpAddress> address = ParseIpAddress(c.text);
    if (c.canonical == nullptr) {
      EXPECT_FALSE(address.has_value()) << c.text;
    } else {
      ASSERT_TRUE(address.has_value()) << c.text;
      EXPECT_EQ(ToString(*address), c.canonical);
    }
  }
  EXPECT_FALSE(ParseIpAddress(absl::string_view("10.0.0.1\0x", 10)).has_value());
}

struct CidrCase {
  const char* cidr;
  const char* address;
  bool contains;
};

TEST(CidrTest, ContainsExactlyItsAddresses) {
  const CidrCase cases[] = {
      {"10.0.0.0/8", "10.255.255.255", true},
      {"10.0.0.0/8", "11.0.0.0", false},
      {"10.0.0.0/8", "9.255.255.255", false},
      {"192.0.2.128/25", "192.0.2.127", false},
      {"192.0.2.128/25", "192.0.2.128", true},
      {"192.0.2.4/30", "192.0.2.7", true},
      {"192.0.2.4/30", "192.0.2.8", false},
      {"192.0.2.1", "192.0.2.1", true},
      {"192.0.2.1", "192.0.2.0", false},
      {"0.0.0.0/0", "255.255.255.255", true},
      {"0.0.0.0/0", "2001:db8::1", false},
      {"::/0", "2001:db8::1", true},
      {"::/0", "192.0.2.1", false},
      {"::/0", "::ffff:192.0.2.1", false},
      {"10.0.0.0/8", "::ffff:10.1.2.3", true},
      {"::ffff:10.0.0.0/104", "10.1.2.3", true},
      {"::ffff:10.0.0.0/104", "11.0.0.0", false},
      {"::ffff:0:0/96", "203.0.113.9", true},
      {"2001:db8::/33", "2001:db8:7fff:ffff::", true},
      {"2001:db8::/33", "2001:db8:8000::", false},
      {"2001:db8::8/125", "2001:db8::f", true},
      {"2001:db8::8/125", "2001:db8::10", false},
  };
  for (const CidrCase& c : cases) {
    ParsedCidr parsed = ParseCidr(c.cidr);
    ASSERT_EQ(parsed.problem, CidrProblem::kNone) << c.cidr;
    EXPECT_EQ(parsed.cidr.Contains(*ParseIpAddress(c.address)), c.contains)
        << c.cidr << " " << c.address;
  }
}

// Oracle: plain 32-bit arithmetic.
TEST(CidrTest, AgreesWithIntegerArithmeticAtEveryLength) {
  const uint32_t network = 0xC6336455;
  for (int length = 0; length <= 32; ++length) {
    uint32_t mask = length == 0 ? 0 : ~uint32_t{0} << (32 - length);
    auto text = [](uint32_t a) {
      return std::to_string(a >> 24) + "." + std::to_string(a >> 16 & 255) + "." +
             std::to_string(a >> 8 & 255) + "." + std::to_string(a & 255);
    };
    ParsedCidr parsed = ParseCidr(text(network & mask) + "/" + std::to_string(length));
    ASSERT_EQ(parsed.problem, CidrProblem::kNone);
    for (int bit = 0; bit < 32; ++bit) {
      uint32_t other = network ^ (uint32_t{1} << bit);
      EXPECT_EQ(parsed.cidr.Contains(*ParseIpAddress(text(other))),
                (other & mask) == (network & mask))
          << length << " " << bit;
    }
  }
}

TEST(CidrTest, RefusesWhatIsNotAPrefix) {
  for (const char* text :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/ 8", "10.0.0.0/+8", "10.0.0.0/8/8",
        "2001:db8::/129", "10.0.0/8", "/8", "", "example.com/8", "10.0.0.0/0008", "[::1]/128"}) {
    EXPECT_EQ(ParseCidr(text).problem, CidrProblem::kSyntax) << text;
  }
}

TEST(CidrTest, NamesTheWholePrefixWhereBitsAreInExcess) {
  ParsedCidr parsed = ParseCidr("10.1.2.3/8");
  EXPECT_EQ(parsed.problem, CidrProblem::kHostBits);
  EXPECT_EQ(ToString(parsed.cidr), "10.0.0.0/8");
}

TEST(CidrTest, ContainsNarrowerPrefixesOnly) {
  auto cidr = [](const char* text) { return ParseCidr(text).cidr; };
  EXPECT_TRUE(cidr("169.254.0.0/16").Contains(cidr("169.254.169.254/32")));
  EXPECT_TRUE(cidr("169.254.0.0/16").Contains(cidr("169.254.0.0/16")));
  EXPECT_FALSE(cidr("169.254.0.0/16").Contains(cidr("0.0.0.0/0")));
  EXPECT_FALSE(cidr("169.254.0.0/16").Contains(cidr("169.255.0.0/24")));
}

}  // namespace
}  // namespace assay::guard
