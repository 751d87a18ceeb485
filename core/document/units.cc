// Every unit is 10^a * 2^b of its kind's base unit. The power of ten is given to the decimal
// conversion as an exponent, and the power of two multiplies exactly, so that values are correctly
// rounded: "0.7%" is the double next to 0.007, which 0.7 / 100 is not.
#include "core/document/units.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "common/base/message.h"

namespace assay::document {
namespace {

constexpr size_t kLongestNumber = 40;  // characters; more is a mistake

struct UnitName {
  const char* name;
  int power_of_ten;
  int power_of_two;
};

// From small to large; binary ones after the decimal ones.
constexpr UnitName kBytes[] = {{"B", 0, 0},    {"kB", 3, 0},   {"MB", 6, 0},   {"GB", 9, 0},
                               {"TB", 12, 0},  {"PB", 15, 0},  {"KiB", 0, 10}, {"MiB", 0, 20},
                               {"GiB", 0, 30}, {"TiB", 0, 40}, {"PiB", 0, 50}};
constexpr UnitName kBitsPerSecond[] = {
    {"bps", 0, 0}, {"kbps", 3, 0}, {"Mbps", 6, 0}, {"Gbps", 9, 0}, {"Tbps", 12, 0}};
constexpr UnitName kBytesPerSecond[] = {{"B/s", 0, 0},    {"kB/s", 3, 0},   {"MB/s", 6, 0},
                                        {"GB/s", 9, 0},   {"TB/s", 12, 0},  {"KiB/s", 0, 10},
                                        {"MiB/s", 0, 20}, {"GiB/s", 0, 30}, {"TiB/s", 0, 40}};
constexpr UnitName kRatio[] = {{"%", -2, 0}};
constexpr UnitName kMilliseconds[] = {{"us", -3, 0}, {"ms", 0, 0}, {"s", 3, 0}};

absl::Span<const UnitName> NamesOf(v1::Unit unit) {
  switch (unit) {
    case v1::UNIT_BYTES:
      return kBytes;
    case v1::UNIT_BITS_PER_SECOND:
      return kBitsPerSecond;
    case v1::UNIT_BYTES_PER_SECOND:
      return kBytesPerSecond;
    case v1::UNIT_RATIO:
      return kRatio;
    case v1::UNIT_MILLISECONDS:
      return kMilliseconds;
    default:
      return {};
  }
}

struct DurationUnit {
  const char* name;
  int64_t nanoseconds;
};

constexpr DurationUnit kDurationUnits[] = {{"d", 86'400'000'000'000},
                                           {"h", 3'600'000'000'000},
                                           {"m", 60'000'000'000},
                                           {"s", 1'000'000'000},
                                           {"ms", 1'000'000},
                                           {"us", 1'000},
                                           {"ns", 1}};
constexpr int64_t kLongestDays = 36'500;
// A day is 2^17 * 3^3 * 5^11 * ... ns: more digits than this never give whole nanoseconds.
constexpr size_t kFinestDigits = 18;

absl::Status UnitError(absl::string_view id, absl::string_view text, MessageArgs args) {
  args.emplace_back("at", "");
  args.emplace_back("text", std::string(text.substr(0, 60)));
  return Error(absl::StatusCode::kInvalidArgument, id, args);
}

// Takes "12" or "12.5" off the front of `text`; empty where there is none.
absl::string_view TakeNumber(absl::string_view* text) {
  size_t end = 0;
  while (end < text->size() && absl::ascii_isdigit((*text)[end])) ++end;
  if (end == 0) return {};
  if (end + 1 < text->size() && (*text)[end] == '.' && absl::ascii_isdigit((*text)[end + 1])) {
    ++end;
    while (end < text->size() && absl::ascii_isdigit((*text)[end])) ++end;
  }
  absl::string_view number = text->substr(0, end);
  text->remove_prefix(end);
  return number;
}

double Scaled(absl::string_view number, int power_of_ten, int power_of_two) {
  std::string decimal = absl::StrCat(number, "e", power_of_ten);
  double value = 0;
  absl::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
  return std::ldexp(value, power_of_two);
}

// Three significant digits without exponent or trailing zeros; integers in full.
std::string Significant(double value, int digits) {
  if (!std::isfinite(value)) return absl::StrCat(value);
  double magnitude = std::fabs(value);
  int decimals = 0;
  if (magnitude > 0 && magnitude < std::pow(10, digits - 1)) {
    decimals = digits - 1 - static_cast<int>(std::floor(std::log10(magnitude)));
  }
  std::string text = absl::StrFormat("%.*f", std::min(decimals, 12), value);
  if (absl::StrContains(text, '.')) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

// Digits that read back as the same double, without exponent.
std::string Shortest(double value) {
  for (int digits = 1; digits < 17; ++digits) {
    std::string text = absl::StrFormat("%.*e", digits - 1, value);
    if (std::strtod(text.c_str(), nullptr) != value) continue;
    int exponent = std::atoi(text.c_str() + text.find('e') + 1);
    return absl::StrFormat("%.*f", std::max(0, digits - 1 - exponent), value);
  }
  int exponent = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::fabs(value))));
  return absl::StrFormat("%.*f", std::max(0, 16 - exponent), value);
}

}  // namespace

absl::string_view ExampleOf(v1::Unit unit) {
  switch (unit) {
    case v1::UNIT_BYTES:
      return "80GB";
    case v1::UNIT_BITS_PER_SECOND:
      return "25Mbps";
    case v1::UNIT_BYTES_PER_SECOND:
      return "20MB/s";
    case v1::UNIT_RATIO:
      return "1%";
    case v1::UNIT_MILLISECONDS:
      return "60ms";
    default:
      return "100";
  }
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty()) return UnitError("document.bad_duration", text, {});
  const absl::int128 kLongest = absl::int128(kLongestDays) * kDurationUnits[0].nanoseconds;
  absl::int128 nanoseconds = 0;
  size_t next_unit = 0;
  bool had_fraction = false;
  while (!rest.empty()) {
    absl::string_view number = TakeNumber(&rest);
    if (number.empty() || number.size() > kLongestNumber || had_fraction) {
      return UnitError("document.bad_duration", text, {});
    }
    rest = absl::StripLeadingAsciiWhitespace(rest);
    size_t length = 0;
    while (length < rest.size() && absl::ascii_isalpha(rest[length])) ++length;
    absl::string_view name = rest.substr(0, length);
    if (name.empty() && rest.empty() && next_unit == 0) {
      return UnitError("document.duration_without_unit", text, {{"number", std::string(number)}});
    }
    while (next_unit < std::size(kDurationUnits) && name != kDurationUnits[next_unit].name) {
      ++next_unit;
    }
    if (next_unit == std::size(kDurationUnits)) {
      return UnitError("document.bad_duration", text, {});
    }
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(length));
    absl::int128 unit = kDurationUnits[next_unit++].nanoseconds;
    size_t point = std::min(number.find('.'), number.size());
    had_fraction = point < number.size();
    absl::int128 whole = 0;
    for (char digit : number.substr(0, point)) {
      whole = whole * 10 + (digit - '0');
      if (whole * unit > kLongest) {
        return UnitError("document.duration_too_long", text, {{"most", "36500d"}});
      }
    }
    nanoseconds += whole * unit;
    if (had_fraction) {
      absl::int128 part = 0;
      absl::int128 scale = 1;
      absl::string_view digits = number.substr(point + 1);
      while (absl::EndsWith(digits, "0")) digits.remove_suffix(1);
      if (digits.size() > kFinestDigits) return UnitError("document.duration_too_fine", text, {});
      for (char digit : digits) {
        part = part * 10 + (digit - '0');
        scale *= 10;
      }
      if (part * unit % scale != 0) return UnitError("document.duration_too_fine", text, {});
      nanoseconds += part * unit / scale;
    }
  }
  if (nanoseconds > kLongest) {
    return UnitError("document.duration_too_long", text, {{"most", "36500d"}});
  }
  return absl::Nanoseconds(static_cast<int64_t>(nanoseconds % 1'000'000'000)) +
         absl::Seconds(static_cast<int64_t>(nanoseconds / 1'000'000'000));
}

std::string WriteDuration(absl::Duration duration) {
  if (duration == absl::InfiniteDuration()) return "inf";
  if (duration == -absl::InfiniteDuration()) return "-inf";
  std::string text;
  if (duration < absl::ZeroDuration()) {
    text = "-";
    duration = -duration;
  }
  for (const DurationUnit& unit : absl::MakeSpan(kDurationUnits).first(3)) {
    int64_t whole = absl::IDivDuration(duration, absl::Nanoseconds(unit.nanoseconds), &duration);
    if (whole > 0) absl::StrAppend(&text, whole, unit.name);
  }
  int64_t nanoseconds = absl::ToInt64Nanoseconds(duration);
  if (nanoseconds == 0) return text.empty() || text == "-" ? "0s" : text;
  for (const DurationUnit& unit : absl::MakeSpan(kDurationUnits).subspan(3)) {
    if (nanoseconds < unit.nanoseconds) continue;
    absl::StrAppend(&text, nanoseconds / unit.nanoseconds);
    if (int64_t rest = nanoseconds % unit.nanoseconds; rest != 0) {
      std::string digits = absl::StrCat(rest + unit.nanoseconds);  // "1" and the padded fraction
      digits.erase(digits.find_last_not_of('0') + 1);
      absl::StrAppend(&text, ".", digits.substr(1));
    }
    return absl::StrCat(text, unit.name);
  }
  return text;
}

absl::StatusOr<double> ParseQuantity(absl::string_view text, v1::Unit unit) {
  absl::Span<const UnitName> names = NamesOf(unit);
  absl::string_view rest = absl::StripAsciiWhitespace(text);
  absl::string_view number = TakeNumber(&rest);
  rest = absl::StripLeadingAsciiWhitespace(rest);
  const std::string example(ExampleOf(unit));
  if (number.empty() || number.size() > kLongestNumber) {
    return UnitError(names.empty() ? "document.bad_number" : "document.bad_quantity", text,
                     {{"example", example}});
  }
  if (names.empty()) {
    if (!rest.empty()) return UnitError("document.bad_number", text, {{"example", example}});
    return Scaled(number, 0, 0);
  }
  auto in_range = [&](double value) -> absl::StatusOr<double> {
    if (unit != v1::UNIT_RATIO || value <= 1) return value;
    return UnitError("document.ratio_too_large", text, {});
  };
  if (rest.empty()) {
    double value = Scaled(number, 0, 0);
    if (value == 0) return value;
    if (unit == v1::UNIT_RATIO && value != 1) return in_range(value);
    if (unit == v1::UNIT_RATIO) return UnitError("document.ambiguous_ratio", text, {});
    return UnitError("document.missing_unit", text,
                     {{"number", std::string(number)}, {"example", example}});
  }
  for (const UnitName& name : names) {
    if (rest == name.name) return in_range(Scaled(number, name.power_of_ten, name.power_of_two));
  }
  std::string known = absl::StrJoin(
      names, ", ", [](std::string* out, const UnitName& name) { absl::StrAppend(out, name.name); });
  return UnitError(
      "document.unknown_unit", text,
      {{"unit", std::string(rest.substr(0, 20))}, {"known", known}, {"example", example}});
}

std::string FormatQuantity(double value, v1::Unit unit) {
  if (!std::isfinite(value)) return absl::StrCat(value);
  if (unit == v1::UNIT_RATIO) {
    std::string text = Significant(value * 100, 3);
    for (int digits = 4; text == "100" && value < 1 && digits < 12; ++digits) {
      text = Significant(value * 100, digits);
    }
    return absl::StrCat(text, " %");
  }
  absl::Span<const UnitName> names = NamesOf(unit);
  if (names.empty()) return Significant(value, 3);
  double magnitude = std::fabs(value);
  if (unit == v1::UNIT_MILLISECONDS) {
    // Delays stay in milliseconds where they can: columns of them are compared by eye.
    if (magnitude >= 0.001 && magnitude < 999.5) names = names.subspan(1, 1);
    if (magnitude == 0) names = names.subspan(1, 1);
  }
  for (const UnitName& name : names) {
    if (name.power_of_two != 0) break;
    double scaled = value / Scaled("1", name.power_of_ten, 0);
    std::string text = Significant(scaled, 3);
    bool last = &name == &names.back() || (&name)[1].power_of_two != 0;
    if (last || std::fabs(std::strtod(text.c_str(), nullptr)) < 1000) {
      return absl::StrCat(text, " ", name.name);
    }
  }
  return absl::StrCat(Significant(value, 3));
}

std::string WriteQuantity(double value, v1::Unit unit) {
  absl::Span<const UnitName> names = NamesOf(unit);
  if (!std::isfinite(value)) return absl::StrCat(value);
  if (value == 0 || names.empty()) return Shortest(value);
  std::string best;
  for (const UnitName& name : names) {
    double scaled = std::ldexp(value, -name.power_of_two) / Scaled("1", name.power_of_ten, 0);
    std::string text = absl::StrCat(Shortest(scaled), name.name);
    absl::StatusOr<double> back = ParseQuantity(text, unit);
    bool same = back.ok() && *back == value;
    if (same && (best.empty() || text.size() < best.size())) best = text;
  }
  return best.empty() ? Shortest(value) : best;
}

}  // namespace assay::document
