// SHA-256 in lower-case hex.
#ifndef ASSAY_COMMON_HASH_SHA256_H_
#define ASSAY_COMMON_HASH_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace assay {

std::string Sha256Hex(absl::string_view bytes);

}  // namespace assay

#endif  // ASSAY_COMMON_HASH_SHA256_H_
