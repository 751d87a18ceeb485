// Values with units, as written in documents and on command lines.
//
// Units are case-sensitive (Mb and MB differ); blanks between a number and its unit are allowed.
// Errors are INVALID_ARGUMENT, quote the text, and give an example of the right form.
#ifndef ASSAY_CORE_DOCUMENT_UNITS_H_
#define ASSAY_CORE_DOCUMENT_UNITS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "assay/v1/options.pb.h"

namespace assay::document {

// "50ms", "1.5s", "1h30m", "7d": units d, h, m, s, ms, us, ns, from the largest to the smallest,
// each at most once; only the last part may have a fraction. No sign, no bare number (except "0").
// At most 36,500 days, in whole nanoseconds.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// The shortest form that ParseDuration reads back as the same value: "1h30m", "1.5s", "50ms", "0s".
// Negative durations carry a leading "-", infinite ones are "inf".
std::string WriteDuration(absl::Duration duration);

// A number with a unit of the given kind, in that kind's base unit and correctly rounded: "80GB" ->
// 8e10 for UNIT_BYTES, "25Mbps" -> 2.5e7 for UNIT_BITS_PER_SECOND, "1%" -> 0.01 for UNIT_RATIO,
// "50ms" -> 50 for UNIT_MILLISECONDS. A ratio may also be written as a fraction ("0.01") and lies
// in [0, 1]; a bare "1" is refused because it could mean 1 % or 100 %. UNIT_COUNT and
// UNIT_UNSPECIFIED are plain numbers. Signs, exponents, missing units, and units of another kind
// are errors.
absl::StatusOr<double> ParseQuantity(absl::string_view text, v1::Unit unit);

// The shortest form for people: 0.0123 -> "1.23 %", 1234567 bytes -> "1.23 MB", 61.25 ms -> "61.2
// ms" (three significant digits, more where needed to keep integers, and so that a ratio below one
// never reads "100 %").
std::string FormatQuantity(double value, v1::Unit unit);

// The exact form that ParseQuantity reads back as the same value: 8e10 bytes -> "80GB",
// 85899345920 bytes -> "80GiB", 0.01 -> "1%".
std::string WriteQuantity(double value, v1::Unit unit);

// A value of the right form, for messages: "80GB" for UNIT_BYTES.
absl::string_view ExampleOf(v1::Unit unit);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_UNITS_H_
