#include "common/term/width.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <wchar.h>

#include "absl/strings/str_cat.h"

namespace assay::term {
namespace {

using ::testing::ElementsAre;

std::string Utf8(uint32_t c) {
  std::string out;
  auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)),
        put(0x80 | (c & 0x3F));
  }
  return out;
}

struct WidthCase {
  const char* text;
  int width;
};

TEST(WidthTest, CountsColumnsOfATerminal) {
  const WidthCase cases[] = {
      {"", 0},
      {"assay", 5},
      {"服务器", 6},
      {"p99，毫秒", 9},
      {"e\u0301a", 2},            // combining acute accent
      {"a\u200Bb", 2},            // zero width space
      {"\u2026", 1},              // ellipsis
      {"\uFF21", 2},              // fullwidth A
      {"\uFF71", 1},              // halfwidth katakana A
      {"\U0001F600", 2},          // emoji
      {"\U00020000", 2},          // CJK extension B
      {"\u1112\u1161\u11AB", 2},  // conjoining Hangul: one syllable
      {"\xFF\xFE", 2},            // invalid bytes, shown as replacement characters
      {"\xE6\x9C", 2},            // a character cut in the middle
      {"\xC0\x80", 2},            // overlong
      {"\xED\xA0\x80", 3},        // surrogate
      {"\033[31m", 5},            // the escape is shown, not obeyed
  };
  for (const WidthCase& c : cases) EXPECT_EQ(DisplayWidth(c.text), c.width) << c.text;
}

// The C library's own table, which may be one Unicode version away, is the independent word.
TEST(WidthTest, AgreesWithTheCLibraryNearlyEverywhere) {
  locale_t utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  ASSERT_NE(utf8, nullptr);
  locale_t before = uselocale(utf8);
  int compared = 0;
  int differing = 0;
  int differing_cjk = 0;
  for (uint32_t c = 0xA0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    if (c >= 0x4DC0 && c <= 0x4DFF) continue;  // hexagrams: one column until Unicode 16, then two
    int expected = wcwidth(static_cast<wchar_t>(c));
    if (expected < 0) continue;
    ++compared;
    if (DisplayWidth(Utf8(c)) == expected) continue;
    ++differing;
    if ((c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xFF00 && c <= 0xFFEF)) ++differing_cjk;
  }
  uselocale(before);
  freelocale(utf8);
  EXPECT_GT(compared, 140000);
  EXPECT_LT(differing, 200);
  EXPECT_LE(differing_cjk, 10);
}

TEST(PrintableTest, DisarmsWhatARemoteMachineMaySend) {
  EXPECT_EQ(Printable("a\tb\nc"), "a b c");
  EXPECT_EQ(Printable("\033]0;owned\007x"), "\uFFFD]0;owned\uFFFDx");
  EXPECT_EQ(Printable("\u009B31m"), "\uFFFD31m");
  EXPECT_EQ(Printable("abc\u202Edef"), "abc\uFFFDdef");
  EXPECT_EQ(Printable("线路 CN2"), "线路 CN2");
  EXPECT_EQ(Printable("\xFF"), "\uFFFD");
}

struct TruncateCase {
  const char* text;
  int width;
  const char* expected;
};

TEST(TruncateTest, NeverExceedsTheWidthAndShowsTheCut) {
  const TruncateCase cases[] = {
      {"assay", 5, "assay"}, {"assay", 4, "ass…"},         {"assay", 1, "…"},
      {"assay", 0, ""},      {"服务器", 6, "服务器"},      {"服务器", 5, "服务…"},
      {"服务器", 4, "服…"},  {"服务器", 3, "服…"},         {"服务器", 2, "…"},
      {"", 3, ""},           {"e\u0301xy", 2, "e\u0301…"},
  };
  for (const TruncateCase& c : cases) {
    std::string cut = Truncate(c.text, c.width);
    EXPECT_EQ(cut, c.expected) << c.text << " to " << c.width;
    EXPECT_LE(DisplayWidth(cut), std::max(c.width, 0));
  }
}

TEST(WrapTest, BreaksAtSpacesAndBetweenIdeographs) {
  EXPECT_THAT(Wrap("loss is too high", 9), ElementsAre("loss is", "too high"));
  EXPECT_THAT(Wrap("one two", 3), ElementsAre("one", "two"));
  EXPECT_THAT(Wrap("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(Wrap("样本不足以判定", 6), ElementsAre("样本不", "足以判", "定"));
  EXPECT_THAT(Wrap("丢包率过高。", 10), ElementsAre("丢包率过", "高。"));
  EXPECT_THAT(Wrap("", 10), ElementsAre(""));
  EXPECT_THAT(Wrap("服务器", 1), ElementsAre("服", "务", "器"));
  EXPECT_THAT(Wrap("p99 延迟 60 ms", 8), ElementsAre("p99 延迟", "60 ms"));
}

TEST(WrapTest, KeepsEveryCharacterAndTheWidth) {
  const std::string text =
      "判据 peak-loss 未达标：峰时丢包率 1.2 %（区间 0.9 % 至 1.6 %），阈值 0.5 %；see the report "
      "for details.";
  for (int width = 2; width <= 100; ++width) {
    std::string joined;
    for (const std::string& line : Wrap(text, width)) {
      EXPECT_LE(DisplayWidth(line), width);
      absl::StrAppend(&joined, line);
    }
    std::string squeezed = text;
    std::erase(squeezed, ' ');
    std::erase(joined, ' ');
    EXPECT_EQ(joined, squeezed) << width;
  }
}

}  // namespace
}  // namespace assay::term
