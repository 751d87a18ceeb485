// Figures and names as they stand in sentences: the same in every language.
#ifndef ASSAY_CORE_VERDICT_WORDS_H_
#define ASSAY_CORE_VERDICT_WORDS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "assay/v1/model.pb.h"
#include "assay/v1/options.pb.h"
#include "assay/v1/result.pb.h"

namespace assay::verdict {

// As written in documents: "ratio", "p95", "contended", "must", "office".
std::string StatisticName(v1::Statistic statistic);
std::string MarkName(v1::Mark mark);
std::string SeverityName(v1::Severity severity);
std::string VantageKindName(v1::VantageKind kind);

// The unit that stored numbers are in: "ratio" (0.01 is 1 %), "ms", "B", "bit/s", "B/s", "".
std::string UnitName(v1::Unit unit);

// "[0.2 %, 0.9 %]"; an infinite end is "∞".
std::string FormatInterval(double low, double high, v1::Unit unit);

// "≤ 1 %".
std::string FormatLimit(v1::Comparison comparison, double threshold, v1::Unit unit);

// "95 %", "99.9 %".
std::string FormatConfidence(double confidence);

// "2026-12-01 20:03:11 +08:00".
std::string FormatMoment(absl::Time time, absl::TimeZone zone);

// "12–15, 19". `ids` ascending.
std::string FormatIds(absl::Span<const int64_t> ids);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_WORDS_H_
