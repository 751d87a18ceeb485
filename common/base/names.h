// Names of servers, vantages, plans, people: what is allowed.
#ifndef ASSAY_COMMON_BASE_NAMES_H_
#define ASSAY_COMMON_BASE_NAMES_H_

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace assay {

// 1 to 63 letters, digits, '-', '_' and '.', beginning with a letter or digit: safe in paths, URIs
// and certificates.
inline bool IsValidName(absl::string_view name) {
  return !name.empty() && name.size() <= 63 && absl::ascii_isalnum(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace assay

#endif  // ASSAY_COMMON_BASE_NAMES_H_
