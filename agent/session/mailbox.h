// Things that happened in other threads, to be dealt with in one.
#ifndef ASSAY_AGENT_SESSION_MAILBOX_H_
#define ASSAY_AGENT_SESSION_MAILBOX_H_

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/time/time.h"

namespace assay::session {

// Thread-safe. Whoever may outlive the receiver holds it by shared_ptr: letters to nobody are
// dropped with it.
class Mailbox {
 public:
  using Letter = std::function<void()>;

  void Post(Letter letter) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    wake_.notify_one();
  }

  // Everything that has arrived, waiting for the first at most `timeout`.
  std::deque<Letter> Take(absl::Duration timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (letters_.empty() && timeout > absl::ZeroDuration()) {
      wake_.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(1))),
                     [this] { return !letters_.empty(); });
    }
    return std::exchange(letters_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Letter> letters_;
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_MAILBOX_H_
