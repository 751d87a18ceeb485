// Where something stands in a document, and errors that say so.
#ifndef ASSAY_CORE_DOCUMENT_POSITION_H_
#define ASSAY_CORE_DOCUMENT_POSITION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/base/message.h"

namespace assay::document {

// Counted from 1; a column is a character, not a byte.
struct Position {
  int line = 0;
  int column = 0;
};

// "file:line:column: ", the `at` of every document message.
std::string AtText(absl::string_view file_name, Position position);

// An INVALID_ARGUMENT error that begins with "file:line:column: ".
absl::Status ErrorAt(absl::string_view file_name, Position position, absl::string_view id,
                     MessageArgs args = {});

// The same sentence as `status`, with its place: for errors of ParseQuantity and the like, which
// know none.
absl::Status Located(const absl::Status& status, absl::string_view at);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_POSITION_H_
