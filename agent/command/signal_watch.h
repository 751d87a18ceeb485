// SIGINT and SIGTERM as a flag that a probe understands.
#ifndef ASSAY_AGENT_COMMAND_SIGNAL_WATCH_H_
#define ASSAY_AGENT_COMMAND_SIGNAL_WATCH_H_

#include <signal.h>

#include <atomic>
#include <ctime>
#include <thread>

namespace assay::command {

// Blocks both signals in the calling thread and in threads it starts from then on, and waits for
// them in a thread of its own: no handler, no global state. A signal that is ignored (nohup) stays
// ignored.
class SignalWatch {
 public:
  SignalWatch() {
    sigemptyset(&signals_);
    for (int signal : {SIGINT, SIGTERM}) {
      struct sigaction now {};
      // Blocking an ignored signal would make it arrive.
      if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
        sigaddset(&signals_, signal);
      }
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    thread_ = std::thread([this] {
      const timespec poll{.tv_sec = 0, .tv_nsec = 50'000'000};
      while (!ended_ && !stopped_) {
        if (sigtimedwait(&signals_, nullptr, &poll) > 0) stopped_ = true;
      }
    });
  }
  ~SignalWatch() {
    ended_ = true;
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  const std::atomic<bool>& stopped() const { return stopped_; }

 private:
  sigset_t signals_;
  sigset_t before_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace assay::command

#endif  // ASSAY_AGENT_COMMAND_SIGNAL_WATCH_H_
