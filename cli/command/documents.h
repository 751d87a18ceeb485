// Documents from the files named on a command line.
#ifndef ASSAY_CLI_COMMAND_DOCUMENTS_H_
#define ASSAY_CLI_COMMAND_DOCUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/model.pb.h"

namespace assay::cli {

// All documents of all files, in order. "-" is standard input.
absl::StatusOr<std::vector<v1::Document>> ReadFiles(const std::vector<std::string>& paths);

}  // namespace assay::cli

#endif  // ASSAY_CLI_COMMAND_DOCUMENTS_H_
