#include "core/document/nearest.h"

#include <gtest/gtest.h>

namespace assay::document {
namespace {

TEST(EditDistanceTest, CountsSteps) {
  const struct {
    const char* a;
    const char* b;
    int expected;
  } kCases[] = {
      {"", "", 0},
      {"a", "", 1},
      {"", "abc", 3},
      {"name", "name", 0},
      {"nmae", "name", 1},
      {"nam", "name", 1},
      {"naame", "name", 1},
      {"nome", "name", 1},
      {"ca", "abc", 3},  // no step inside another: 2 in the unrestricted distance
      {"kitten", "sitting", 3},
      {"abcd", "badc", 2},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(EditDistance(c.a, c.b), c.expected) << c.a << " " << c.b;
    EXPECT_EQ(EditDistance(c.b, c.a), c.expected) << c.b << " " << c.a;
  }
}

TEST(NearestTest, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> keys = {"name", "addresses", "time_zone", "gpu_count", "id"};
  const struct {
    const char* word;
    const char* expected;
  } kCases[] = {
      {"nmae", "name"},
      {"NAME", "name"},
      {"address", "addresses"},
      {"timezone", "time_zone"},
      {"time-zone", "time_zone"},
      {"gpus", ""},
      {"colour", ""},
      {"ie", "id"},
      {"xy", ""},
      {"", ""},
      {"gpucount", "gpu_count"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Nearest(c.word, keys), c.expected) << c.word;
}

TEST(NearestTest, TheFirstOfEquals) { EXPECT_EQ(Nearest("cat", {"bat", "rat", "car"}), "bat"); }

}  // namespace
}  // namespace assay::document
