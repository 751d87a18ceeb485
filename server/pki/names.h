// Rules for what may stand in a certificate's URI.
#ifndef ASSAY_SERVER_PKI_NAMES_H_
#define ASSAY_SERVER_PKI_NAMES_H_

#include "absl/strings/string_view.h"

namespace assay::pki {

// 1 to 50 characters of A-Z a-z 0-9 - . _ (with " CA" it fits X.520's 64 for a common name).
bool IsCoordinatorName(absl::string_view name);
// 1 to 256 bytes.
bool IsPeerId(absl::string_view id);

}  // namespace assay::pki

#endif  // ASSAY_SERVER_PKI_NAMES_H_
