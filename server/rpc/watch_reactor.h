// The stream behind `assay run watch`.
#ifndef ASSAY_SERVER_RPC_WATCH_REACTOR_H_
#define ASSAY_SERVER_RPC_WATCH_REACTOR_H_

#include <grpcpp/support/server_callback.h>

#include <string>

#include "absl/status/status.h"
#include "assay/v1/control.pb.h"
#include "common/clock/clock.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/run_book.h"
#include "server/dispatch/worker_pool.h"

namespace assay::rpc {

// Follows the run until it ends or the caller goes away; ends at once with `allowed` where that is
// an error. A slow reader gets fewer, fuller messages: at most one waits, and later changes are
// merged into it.
grpc::ServerWriteReactor<v1::RunProgress>* StartWatching(
    const std::string& run, const absl::Status& allowed, dispatch::Dispatcher* dispatcher,
    dispatch::RunBook* runs, dispatch::WorkerPool* pool, const Clock* clock);

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_WATCH_REACTOR_H_
