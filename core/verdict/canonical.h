// A message as text that does not depend on the Protocol Buffers library: what digests are made of.
#ifndef ASSAY_CORE_VERDICT_CANONICAL_H_
#define ASSAY_CORE_VERDICT_CANONICAL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace assay::verdict {

// One line for each field that is set, fields by ascending number: PREFIX, then the path of field
// numbers, "=", the value. Grammar and example: docs/decisions/0006-verdict-digest.md. Fields that
// this version does not know are not part of it.
std::string CanonicalForm(const google::protobuf::Message& message, absl::string_view prefix);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_CANONICAL_H_
