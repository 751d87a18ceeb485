// A context: the directory that says which coordinator `assay` talks to, and as whom.
#ifndef ASSAY_CLI_COORDINATOR_CONTEXT_H_
#define ASSAY_CLI_COORDINATOR_CONTEXT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/term/output.h"
#include "common/tls/dial.h"
#include "common/tls/identity.h"

namespace assay::cli {

struct Context {
  std::string directory;
  tls::HostPort coordinator;
  tls::Identity identity;
};

// $ASSAY_CONTEXT, else $XDG_CONFIG_HOME/assay, else ~/.config/assay.
std::string DefaultContextDirectory(const term::Environment& environment);

// Reads <directory>/coordinator and <directory>/identity.pem. NOT_FOUND, saying how to get one,
// where there is none.
absl::StatusOr<Context> LoadContext(const std::string& directory);

bool HasContext(const std::string& directory);

// Makes the directory (mode 0700) and tries that it can be written, before a token is spent on it.
absl::Status PrepareContextDirectory(const std::string& directory);

// Identity first: a context that is half written has no coordinator.
absl::Status SaveContext(const Context& context);

}  // namespace assay::cli

#endif  // ASSAY_CLI_COORDINATOR_CONTEXT_H_
