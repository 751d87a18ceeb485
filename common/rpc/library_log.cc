#include "common/rpc/library_log.h"

#include <grpc/support/log.h>

#include <cstdlib>

namespace assay::rpc {

void QuietLibraryLog() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;  // NOLINT(concurrency-mt-unsafe)
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace assay::rpc
