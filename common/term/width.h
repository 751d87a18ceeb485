// Columns that a text takes on a terminal, and cutting to them. Texts are UTF-8; a byte that is not
// part of valid UTF-8 counts and shows as one U+FFFD.
#ifndef ASSAY_COMMON_TERM_WIDTH_H_
#define ASSAY_COMMON_TERM_WIDTH_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace assay::term {

// Unicode 14: East Asian wide and fullwidth characters take two columns, combining marks and format
// characters none, everything else (ambiguous characters too) one. Control characters count as they
// are shown by Printable().
int DisplayWidth(absl::string_view text);

// Safe to print on a terminal, whatever a remote machine put into it: control characters (escape
// sequences too), bidirectional overrides and invalid bytes become U+FFFD; line breaks and tabs
// become spaces.
std::string Printable(absl::string_view text);

// At most `width` columns; what was cut is shown by "…". Nothing where width < 1.
std::string Truncate(absl::string_view text, int width);

// Lines of at most `width` columns, broken at spaces, between CJK characters, and where nothing
// else helps inside words. `width` below 2 counts as 2. At least one line.
std::vector<std::string> Wrap(absl::string_view text, int width);

}  // namespace assay::term

#endif  // ASSAY_COMMON_TERM_WIDTH_H_
