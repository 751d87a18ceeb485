// Reads a scenario from YAML.
#ifndef ASSAY_TESTS_PATHSIM_SCENARIO_READER_H_
#define ASSAY_TESTS_PATHSIM_SCENARIO_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

// INVALID_ARGUMENT with "file:line:column: " for unknown keys, values out of range, names that
// stand for nothing, and everything else that isn't a path.
absl::StatusOr<Scenario> ReadScenario(absl::string_view yaml, absl::string_view file_name);
// Also NOT_FOUND where the file cannot be read.
absl::StatusOr<Scenario> ReadScenarioFile(const std::string& path);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_SCENARIO_READER_H_
