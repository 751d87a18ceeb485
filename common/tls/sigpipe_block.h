// Keeps SIGPIPE from this thread: OpenSSL writes to sockets that the other side may have closed.
#ifndef ASSAY_COMMON_TLS_SIGPIPE_BLOCK_H_
#define ASSAY_COMMON_TLS_SIGPIPE_BLOCK_H_

#include <signal.h>

#include <ctime>

namespace assay::tls {

// Blocks the signal in the calling thread and swallows one that came up meanwhile; leaves the
// process's disposition and other threads alone.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeBlock() {
    timespec now{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_SIGPIPE_BLOCK_H_
