// Early return on errors, for functions that return absl::Status or absl::StatusOr.
#ifndef ASSAY_COMMON_BASE_STATUS_MACROS_H_
#define ASSAY_COMMON_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define ASSAY_RETURN_IF_ERROR(expression)                                                  \
  do {                                                                                     \
    if (absl::Status assay_status = (expression); !assay_status.ok()) return assay_status; \
  } while (false)

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

// ASSAY_ASSIGN_OR_RETURN(auto value, ComputeValue());
#define ASSAY_ASSIGN_OR_RETURN(declaration, expression) \
  ASSAY_ASSIGN_OR_RETURN_INNER(ASSAY_CONCAT(assay_or_, __COUNTER__), declaration, expression)
#define ASSAY_ASSIGN_OR_RETURN_INNER(name, declaration, expression) \
  auto name = (expression);                                         \
  if (!name.ok()) return std::move(name).status();                  \
  declaration = *std::move(name)

#endif  // ASSAY_COMMON_BASE_STATUS_MACROS_H_
