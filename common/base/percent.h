// Percent-encoding of bytes (RFC 3986, section 2.1).
#ifndef ASSAY_COMMON_BASE_PERCENT_H_
#define ASSAY_COMMON_BASE_PERCENT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace assay {

// Letters, digits, '-', '.' and '_' stay; every other byte becomes %XX in upper case.
std::string PercentEncode(absl::string_view text);

// The reverse. Malformed escapes stay as they are, and so never equal their own encoding.
std::string PercentDecode(absl::string_view text);

}  // namespace assay

#endif  // ASSAY_COMMON_BASE_PERCENT_H_
