// Ctrl-C and its like, asked for instead of delivered: whoever works in steps looks between them.
#ifndef ASSAY_CLI_LOCAL_INTERRUPT_H_
#define ASSAY_CLI_LOCAL_INTERRUPT_H_

#include <signal.h>

namespace assay::cli {

// SIGINT, SIGTERM and SIGHUP stay blocked for as long as this lives. Make it before any thread.
class Interrupt {
 public:
  Interrupt() {
    sigemptyset(&signals_);
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, number);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~Interrupt() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Whether one has come; stays true.
  bool Requested() {
    timespec none = {0, 0};
    if (!requested_ && sigtimedwait(&signals_, nullptr, &none) > 0) requested_ = true;
    return requested_;
  }

 private:
  sigset_t signals_;
  sigset_t before_;
  bool requested_ = false;
};

}  // namespace assay::cli

#endif  // ASSAY_CLI_LOCAL_INTERRUPT_H_
