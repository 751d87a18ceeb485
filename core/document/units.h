// Values with units, as written in documents and on command lines.
#ifndef ASSAY_CORE_DOCUMENT_UNITS_H_
#define ASSAY_CORE_DOCUMENT_UNITS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "assay/v1/options.pb.h"

namespace assay::document {

// "50ms", "1.5s", "1h30m", "7d". No sign, no bare number (except "0"). INVALID_ARGUMENT otherwise.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// A number with a unit of the given kind, in that kind's base unit: "80GB" -> 8e10 for UNIT_BYTES,
// "25Mbps" -> 2.5e7 for UNIT_BITS_PER_SECOND, "1%" -> 0.01 for UNIT_RATIO, "50ms" -> 50 for
// UNIT_MILLISECONDS. Units that belong to another kind, missing and unknown units are
// INVALID_ARGUMENT, with an example of the right form.
absl::StatusOr<double> ParseQuantity(absl::string_view text, v1::Unit unit);

// The shortest form for people: 0.0123 -> "1.23 %", 1234567 bytes -> "1.23 MB", 61.25 ms -> "61.2
// ms" (three significant digits, more where needed to keep integers).
std::string FormatQuantity(double value, v1::Unit unit);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_UNITS_H_
