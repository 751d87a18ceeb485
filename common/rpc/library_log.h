// gRPC's own log lines, which would otherwise stand on the terminal between ours.
#ifndef ASSAY_COMMON_RPC_LIBRARY_LOG_H_
#define ASSAY_COMMON_RPC_LIBRARY_LOG_H_

namespace assay::rpc {

// Drops them, unless the environment asks for them by GRPC_VERBOSITY. For main(), before the first
// use of gRPC.
void QuietLibraryLog();

}  // namespace assay::rpc

#endif  // ASSAY_COMMON_RPC_LIBRARY_LOG_H_
