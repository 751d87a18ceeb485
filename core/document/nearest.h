// What somebody probably meant to write.
#ifndef ASSAY_CORE_DOCUMENT_NEAREST_H_
#define ASSAY_CORE_DOCUMENT_NEAREST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace assay::document {

// Insertions, deletions, substitutions and swaps of neighbours that lead from `a` to `b`, none of
// them inside another (optimal string alignment; Damerau 1964). In bytes.
int EditDistance(absl::string_view a, absl::string_view b);

// The closest of `known`, compared without case and with '-' as '_'; "" where none is close: more
// than a third of the longer word, and more than one step, differs. The first of equals.
std::string Nearest(absl::string_view word, const std::vector<std::string>& known);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_NEAREST_H_
