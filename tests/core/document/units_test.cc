#include "core/document/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "absl/strings/str_cat.h"

namespace assay::document {
namespace {

using ::testing::HasSubstr;

TEST(ParseDurationTest, ReadsDurations) {
  const struct {
    const char* text;
    absl::Duration expected;
  } kCases[] = {
      {"0", absl::ZeroDuration()},
      {"0s", absl::ZeroDuration()},
      {"50ms", absl::Milliseconds(50)},
      {"1.5s", absl::Milliseconds(1500)},
      {"1h30m", absl::Minutes(90)},
      {"1h 30m", absl::Minutes(90)},
      {" 5 m ", absl::Minutes(5)},
      {"7d", absl::Hours(168)},
      {"1d2h3m4s5ms6us7ns",
       absl::Hours(26) + absl::Minutes(3) + absl::Seconds(4) + absl::Nanoseconds(5'006'007)},
      {"0.5d", absl::Hours(12)},
      {"1.25h", absl::Minutes(75)},
      {"0.000000001s", absl::Nanoseconds(1)},
      {"1.500000000000000000000000s", absl::Milliseconds(1500)},
      {"90m", absl::Minutes(90)},
      {"36500d", absl::Hours(24) * 36500},
  };
  for (const auto& c : kCases) {
    absl::StatusOr<absl::Duration> parsed = ParseDuration(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.status();
    EXPECT_EQ(*parsed, c.expected) << c.text;
  }
}

TEST(ParseDurationTest, RefusesWhatIsNotADuration) {
  const struct {
    const char* text;
    const char* says;
  } kCases[] = {
      {"", "is not a duration"},
      {"  ", "is not a duration"},
      {"5", "the duration 5 has no unit; write for example 5s"},
      {"-5s", "is not a duration"},
      {"+5s", "is not a duration"},
      {"5 minutes", "is not a duration"},
      {"5S", "is not a duration"},
      {"1m1h", "is not a duration"},
      {"1s1s", "is not a duration"},
      {"1.5h30m", "is not a duration"},
      {"1h30", "is not a duration"},
      {".5s", "is not a duration"},
      {"5.s", "is not a duration"},
      {"1e3s", "is not a duration"},
      {"0x10s", "is not a duration"},
      {"s", "is not a duration"},
      {"0.5ns", "finer than a nanosecond"},
      {"0.0000000001s", "finer than a nanosecond"},
      {"0.3333333333333333333333d", "finer than a nanosecond"},
      {"36501d", "too long; at most 36500d"},
      {"36500d1ns", "too long"},
      {"99999999999999999999999999999999d", "too long"},
      {"99999999999999999999999999999999999999999999999999d", "is not a duration"},
  };
  for (const auto& c : kCases) {
    absl::StatusOr<absl::Duration> parsed = ParseDuration(c.text);
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(c.says)) << c.text;
  }
}

TEST(WriteDurationTest, IsShort) {
  EXPECT_EQ(WriteDuration(absl::ZeroDuration()), "0s");
  EXPECT_EQ(WriteDuration(absl::Minutes(90)), "1h30m");
  EXPECT_EQ(WriteDuration(absl::Milliseconds(1500)), "1.5s");
  EXPECT_EQ(WriteDuration(absl::Milliseconds(50)), "50ms");
  EXPECT_EQ(WriteDuration(absl::Microseconds(1250)), "1.25ms");
  EXPECT_EQ(WriteDuration(absl::Hours(168)), "7d");
  EXPECT_EQ(WriteDuration(absl::Seconds(90) + absl::Milliseconds(5)), "1m30.005s");
  EXPECT_EQ(WriteDuration(-absl::Seconds(3)), "-3s");
  EXPECT_EQ(WriteDuration(absl::InfiniteDuration()), "inf");
}

TEST(WriteDurationTest, ReadsBackAsTheSame) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    // Numbers of every magnitude, with and without trailing zeros.
    int64_t nanoseconds = static_cast<int64_t>(random() >> (random() % 60 + 4));
    for (uint64_t zeros = random() % 10; zeros > 0; --zeros) nanoseconds -= nanoseconds % 10;
    absl::Duration duration = absl::Nanoseconds(nanoseconds % (36'500LL * 86'400'000'000'000));
    std::string text = WriteDuration(duration);
    absl::StatusOr<absl::Duration> back = ParseDuration(text);
    ASSERT_TRUE(back.ok()) << text << back.status();
    ASSERT_EQ(*back, duration) << text;
  }
}

TEST(ParseQuantityTest, ReadsUnits) {
  const struct {
    const char* text;
    v1::Unit unit;
    double expected;
  } kCases[] = {
      {"80GB", v1::UNIT_BYTES, 8e10},
      {"80 GB", v1::UNIT_BYTES, 8e10},
      {"1.5kB", v1::UNIT_BYTES, 1500},
      {"80GiB", v1::UNIT_BYTES, 85899345920.0},
      {"56B", v1::UNIT_BYTES, 56},
      {"0", v1::UNIT_BYTES, 0},
      {"25Mbps", v1::UNIT_BITS_PER_SECOND, 2.5e7},
      {"1Gbps", v1::UNIT_BITS_PER_SECOND, 1e9},
      {"20MB/s", v1::UNIT_BYTES_PER_SECOND, 2e7},
      {"1MiB/s", v1::UNIT_BYTES_PER_SECOND, 1048576},
      {"1%", v1::UNIT_RATIO, 0.01},
      {"0.7%", v1::UNIT_RATIO, 0.007},
      {"0.1 %", v1::UNIT_RATIO, 0.001},
      {"0.01", v1::UNIT_RATIO, 0.01},
      {"0", v1::UNIT_RATIO, 0},
      {"100%", v1::UNIT_RATIO, 1},
      {"50ms", v1::UNIT_MILLISECONDS, 50},
      {"1.5s", v1::UNIT_MILLISECONDS, 1500},
      {"250us", v1::UNIT_MILLISECONDS, 0.25},
      {"12", v1::UNIT_COUNT, 12},
      {"1.5", v1::UNIT_UNSPECIFIED, 1.5},
  };
  for (const auto& c : kCases) {
    absl::StatusOr<double> parsed = ParseQuantity(c.text, c.unit);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.status();
    EXPECT_EQ(*parsed, c.expected) << c.text;
  }
}

TEST(ParseQuantityTest, RefusesAndShowsTheRightForm) {
  const struct {
    const char* text;
    v1::Unit unit;
    const char* says;
  } kCases[] = {
      {"80", v1::UNIT_BYTES, "the value 80 has no unit; write it like 80GB"},
      {"", v1::UNIT_BYTES, "write it like 80GB"},
      {"GB", v1::UNIT_BYTES, "is not a number with a unit; write it like 80GB"},
      {"80gb", v1::UNIT_BYTES, "upper and lower case matter"},
      {"80Gb", v1::UNIT_BYTES, "has the unit \"Gb\", which does not fit here"},
      {"80GBs", v1::UNIT_BYTES, "does not fit here"},
      {"-1GB", v1::UNIT_BYTES, "is not a number with a unit"},
      {"1e3GB", v1::UNIT_BYTES, "does not fit here"},
      {"nanB", v1::UNIT_BYTES, "is not a number with a unit"},
      {"infGB", v1::UNIT_BYTES, "is not a number with a unit"},
      {"25MB/s", v1::UNIT_BITS_PER_SECOND, "write it like 25Mbps"},
      {"25Mbps", v1::UNIT_BYTES_PER_SECOND, "write it like 20MB/s"},
      {"1", v1::UNIT_RATIO, "could mean 1 % or 100 %"},
      {"1.0", v1::UNIT_RATIO, "could mean 1 % or 100 %"},
      {"101%", v1::UNIT_RATIO, "more than 100 %"},
      {"2", v1::UNIT_RATIO, "more than 100 %"},
      {"1ms", v1::UNIT_RATIO, "write it like 1%"},
      {"60", v1::UNIT_MILLISECONDS, "the value 60 has no unit; write it like 60ms"},
      {"60%", v1::UNIT_MILLISECONDS, "write it like 60ms"},
      {"1m", v1::UNIT_MILLISECONDS, "one of us, ms, s"},
      {"5x", v1::UNIT_COUNT, "is not a plain number"},
      {"five", v1::UNIT_COUNT, "is not a plain number"},
      {"-5", v1::UNIT_COUNT, "is not a plain number"},
  };
  for (const auto& c : kCases) {
    absl::StatusOr<double> parsed = ParseQuantity(c.text, c.unit);
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(c.says)) << c.text;
  }
}

TEST(ParseQuantityTest, PercentagesAreCorrectlyRounded) {
  // strtod of the shifted decimal is the oracle: dividing by 100 is off by one place for some.
  for (int i = 0; i <= 100000; ++i) {
    std::string text = absl::StrCat(i / 1000, ".", i % 1000 + 1000);
    text.erase(text.find('.') + 1, 1);
    double expected = std::strtod(absl::StrCat(text, "e-2").c_str(), nullptr);
    ASSERT_EQ(*ParseQuantity(absl::StrCat(text, "%"), v1::UNIT_RATIO), expected) << text;
  }
}

TEST(FormatQuantityTest, ThreeSignificantDigits) {
  const struct {
    double value;
    v1::Unit unit;
    const char* expected;
  } kCases[] = {
      {0.0123, v1::UNIT_RATIO, "1.23 %"},
      {0, v1::UNIT_RATIO, "0 %"},
      {1, v1::UNIT_RATIO, "100 %"},
      {0.9999, v1::UNIT_RATIO, "99.99 %"},
      {0.99999, v1::UNIT_RATIO, "99.999 %"},
      {0.00001234, v1::UNIT_RATIO, "0.00123 %"},
      {0.1, v1::UNIT_RATIO, "10 %"},
      {1234567, v1::UNIT_BYTES, "1.23 MB"},
      {999600, v1::UNIT_BYTES, "1 MB"},
      {512, v1::UNIT_BYTES, "512 B"},
      {8e10, v1::UNIT_BYTES, "80 GB"},
      {3e18, v1::UNIT_BYTES, "3000 PB"},
      {2.5e7, v1::UNIT_BITS_PER_SECOND, "25 Mbps"},
      {2e7, v1::UNIT_BYTES_PER_SECOND, "20 MB/s"},
      {61.25, v1::UNIT_MILLISECONDS, "61.2 ms"},
      {0.0512, v1::UNIT_MILLISECONDS, "0.0512 ms"},
      {0, v1::UNIT_MILLISECONDS, "0 ms"},
      {999.4, v1::UNIT_MILLISECONDS, "999 ms"},
      {1234, v1::UNIT_MILLISECONDS, "1.23 s"},
      {12345, v1::UNIT_COUNT, "12345"},
      {2.5, v1::UNIT_COUNT, "2.5"},
      {9.996, v1::UNIT_COUNT, "10"},
      {-0.0001, v1::UNIT_COUNT, "-0.0001"},
      {-2.5, v1::UNIT_MILLISECONDS, "-2.5 ms"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(FormatQuantity(c.value, c.unit), c.expected) << c.value;
  }
}

TEST(WriteQuantityTest, IsExactAndShort) {
  EXPECT_EQ(WriteQuantity(8e10, v1::UNIT_BYTES), "80GB");
  EXPECT_EQ(WriteQuantity(85899345920.0, v1::UNIT_BYTES), "80GiB");
  EXPECT_EQ(WriteQuantity(56, v1::UNIT_BYTES), "56B");
  EXPECT_EQ(WriteQuantity(0.007, v1::UNIT_RATIO), "0.7%");
  EXPECT_EQ(WriteQuantity(0.95, v1::UNIT_RATIO), "95%");
  EXPECT_EQ(WriteQuantity(2.5e7, v1::UNIT_BITS_PER_SECOND), "25Mbps");
  EXPECT_EQ(WriteQuantity(0, v1::UNIT_BYTES), "0");
  EXPECT_EQ(WriteQuantity(42, v1::UNIT_COUNT), "42");
}

TEST(WriteQuantityTest, ReadsBackAsTheSame) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    double bytes = static_cast<double>(random() >> (random() % 53 + 11));
    std::string text = WriteQuantity(bytes, v1::UNIT_BYTES);
    ASSERT_EQ(*ParseQuantity(text, v1::UNIT_BYTES), bytes) << text;
    double ratio = static_cast<double>(random() >> 11) * 0x1p-53;
    text = WriteQuantity(ratio, v1::UNIT_RATIO);
    ASSERT_EQ(*ParseQuantity(text, v1::UNIT_RATIO), ratio) << text;
  }
}

}  // namespace
}  // namespace assay::document
