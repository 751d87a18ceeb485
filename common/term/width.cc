#include "common/term/width.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/term/width_ranges.h"

namespace assay::term {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;
constexpr absl::string_view kReplacementUtf8 = "\xEF\xBF\xBD";
constexpr absl::string_view kEllipsis = "\xE2\x80\xA6";

struct Character {
  uint32_t code_point = 0;
  absl::string_view bytes;  // as they are to be shown
  int width = 0;
};

template <size_t N>
bool InRanges(const CodePointRange (&ranges)[N], uint32_t code_point) {
  auto after = std::upper_bound(std::begin(ranges), std::end(ranges), code_point,
                                [](uint32_t value, CodePointRange r) { return value < r.first; });
  return after != std::begin(ranges) && code_point <= std::prev(after)->last;
}

int CodePointWidth(uint32_t code_point) {
  if (code_point < 0x300) return 1;
  if (InRanges(kZeroWidth, code_point)) return 0;
  return InRanges(kDoubleWidth, code_point) ? 2 : 1;
}

// Controls, and the characters that turn the direction of what follows (CVE-2021-42574).
bool Dangerous(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
}

// Takes one code point off the front. A byte that begins no valid sequence (RFC 3629: no overlong
// forms, no surrogates) is taken alone.
uint32_t TakeCodePoint(absl::string_view& text, absl::string_view& bytes) {
  auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = 1;
  uint32_t code_point = kReplacement;
  unsigned char lead = byte(0);
  if (lead < 0x80) {
    code_point = lead;
  } else if (lead >= 0xC2 && lead <= 0xF4) {
    size_t wanted = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t value = lead & (0x7F >> wanted);
    size_t read = 1;
    while (read < wanted && read < text.size() && (byte(read) & 0xC0) == 0x80) {
      value = value << 6 | (byte(read++) & 0x3F);
    }
    constexpr uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (read == wanted && value >= kLowest[wanted] && value <= 0x10FFFF &&
        (value < 0xD800 || value > 0xDFFF)) {
      code_point = value;
      length = wanted;
    }
  }
  bytes = text.substr(0, length);
  text.remove_prefix(length);
  return code_point;
}

Character TakeCharacter(absl::string_view& text) {
  Character c;
  c.code_point = TakeCodePoint(text, c.bytes);
  if (c.code_point == '\n' || c.code_point == '\t' || c.code_point == '\r') {
    c.code_point = ' ';
    c.bytes = " ";
  } else if (Dangerous(c.code_point) || (c.code_point == kReplacement && c.bytes.size() == 1)) {
    c.code_point = kReplacement;
    c.bytes = kReplacementUtf8;
  }
  c.width = CodePointWidth(c.code_point);
  return c;
}

// Punctuation that must not stand at the start of a line.
bool ClosesPhrase(uint32_t c) {
  constexpr absl::string_view kAscii = ",.;:!?)]}%";
  constexpr uint32_t kWide[] = {0x3001, 0x3002, 0x3009, 0x300B, 0x300D, 0x300F, 0x3011, 0xFF01,
                                0xFF05, 0xFF09, 0xFF0C, 0xFF0E, 0xFF1A, 0xFF1B, 0xFF1F, 0x201D};
  if (c < 0x80) return absl::StrContains(kAscii, static_cast<char>(c));
  return std::find(std::begin(kWide), std::end(kWide), c) != std::end(kWide);
}

// Opening punctuation must not stand at the end of one.
bool OpensPhrase(uint32_t c) {
  return c == '(' || c == '[' || c == 0x201C || c == 0x3008 || c == 0x300A || c == 0x300C ||
         c == 0x300E || c == 0x3010 || c == 0xFF08;
}

}  // namespace

int DisplayWidth(absl::string_view text) {
  int width = 0;
  while (!text.empty()) width += TakeCharacter(text).width;
  return width;
}

std::string Printable(absl::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) absl::StrAppend(&printable, TakeCharacter(text).bytes);
  return printable;
}

std::string Truncate(absl::string_view text, int width) {
  if (width < 1) return "";
  std::string whole;
  size_t kept_bytes = 0;  // what still leaves a column for the ellipsis
  int used = 0;
  while (!text.empty()) {
    Character c = TakeCharacter(text);
    used += c.width;
    if (used > width) return absl::StrCat(whole.substr(0, kept_bytes), kEllipsis);
    absl::StrAppend(&whole, c.bytes);
    if (used < width) kept_bytes = whole.size();
  }
  return whole;
}

std::vector<std::string> Wrap(absl::string_view text, int width) {
  width = std::max(width, 2);
  std::vector<std::string> lines;
  std::string line;
  int used = 0;
  size_t break_at = 0;  // bytes of `line` after which it may be broken; 0: nowhere
  uint32_t previous = 0;
  int previous_width = 0;
  auto emit = [&lines](absl::string_view whole) {
    lines.emplace_back(absl::StripTrailingAsciiWhitespace(whole));
  };
  while (!text.empty()) {
    Character c = TakeCharacter(text);
    if (c.code_point == ' ' && used + 1 > width) {  // a space at the margin is the break
      emit(line);
      line.clear();
      used = 0;
      break_at = 0;
      previous = 0;
      continue;
    }
    if (c.code_point == ' ' && line.empty() && !lines.empty()) continue;
    bool between_words = previous == ' ' && c.code_point != ' ';
    bool between_ideographs = (c.width == 2 || previous_width == 2) && c.width > 0 &&
                              !ClosesPhrase(c.code_point) && !OpensPhrase(previous);
    if (!line.empty() && (between_words || between_ideographs)) break_at = line.size();
    while (used + c.width > width && !line.empty()) {
      size_t cut = break_at > 0 ? break_at : line.size();
      emit(absl::string_view(line).substr(0, cut));
      line.erase(0, cut);
      used = DisplayWidth(line);
      break_at = 0;
    }
    absl::StrAppend(&line, c.bytes);
    used += c.width;
    if (c.width > 0) {
      previous = c.code_point;
      previous_width = c.width;
    }
  }
  if (!line.empty() || lines.empty()) emit(line);
  return lines;
}

}  // namespace assay::term
