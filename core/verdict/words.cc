#include "core/verdict/words.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "core/document/units.h"
#include "core/metric/catalogue.h"

namespace assay::verdict {
namespace {

std::string Lower(absl::string_view enumerator, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(enumerator, prefix));
}

std::string FormatEnd(double value, v1::Unit unit) {
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  return document::FormatQuantity(value, unit);
}

}  // namespace

std::string StatisticName(v1::Statistic statistic) {
  return Lower(v1::Statistic_Name(statistic), "STATISTIC_");
}

std::string MarkName(v1::Mark mark) { return Lower(v1::Mark_Name(mark), "MARK_"); }

std::string SeverityName(v1::Severity severity) {
  return Lower(v1::Severity_Name(severity), "SEVERITY_");
}

std::string VantageKindName(v1::VantageKind kind) {
  return Lower(v1::VantageKind_Name(kind), "VANTAGE_KIND_");
}

std::string UnitName(v1::Unit unit) {
  return unit == v1::UNIT_RATIO ? "ratio" : metric::UnitSymbol(unit);
}

std::string FormatInterval(double low, double high, v1::Unit unit) {
  return absl::StrCat("[", FormatEnd(low, unit), ", ", FormatEnd(high, unit), "]");
}

std::string FormatLimit(v1::Comparison comparison, double threshold, v1::Unit unit) {
  return absl::StrCat(comparison == v1::COMPARISON_AT_LEAST ? "≥ " : "≤ ",
                      document::FormatQuantity(threshold, unit));
}

std::string FormatConfidence(double confidence) {
  return absl::StrFormat("%.10g %%", confidence * 100);
}

std::string FormatMoment(absl::Time time, absl::TimeZone zone) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S %Ez", time, zone);
}

std::string FormatIds(absl::Span<const int64_t> ids) {
  std::string text;
  for (size_t first = 0; first < ids.size();) {
    size_t last = first;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ", ", ids[first]);
    if (last > first) absl::StrAppend(&text, last == first + 1 ? ", " : "–", ids[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace assay::verdict
