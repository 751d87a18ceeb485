// The thin edge of unary calls: runs a handler on the worker pool and turns its status into gRPC's.
#ifndef ASSAY_SERVER_RPC_UNARY_H_
#define ASSAY_SERVER_RPC_UNARY_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "common/base/message.h"
#include "common/rpc/status.h"
#include "server/dispatch/worker_pool.h"

namespace assay::rpc {

// `handler` may block and runs exactly once, unless the pool is full: then the call is answered
// with RESOURCE_EXHAUSTED. What it captures of the request lives until the call is finished.
inline grpc::ServerUnaryReactor* RunUnary(grpc::CallbackServerContext* context,
                                          dispatch::WorkerPool* pool,
                                          std::function<absl::Status()> handler) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  bool queued =
      pool->Submit([reactor, handler = std::move(handler)] { reactor->Finish(ToGrpc(handler())); });
  if (!queued) {
    reactor->Finish(ToGrpc(Error(absl::StatusCode::kResourceExhausted, "server.overloaded")));
  }
  return reactor;
}

}  // namespace assay::rpc

#endif  // ASSAY_SERVER_RPC_UNARY_H_
