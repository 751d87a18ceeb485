#include "tests/pathsim/path/link.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace assay::pathsim {

Link::Link(const LinkSettings& settings, uint64_t seed, absl::string_view name)
    : settings_(settings),
      loss_(MakeChoosers(settings.loss, seed, absl::StrCat(name, "/loss"))),
      duplicate_(MakeChoosers(settings.duplicate, seed, absl::StrCat(name, "/duplicate"))),
      late_(MakeChoosers(settings.late, seed, absl::StrCat(name, "/late"))),
      jitter_(seed, absl::StrCat(name, "/jitter")) {}

Link::Fate Link::Send(absl::Duration time, uint8_t protocol, size_t bytes) {
  Fate fate;
  bool lost = AnyChooses(loss_, protocol);
  bool late = AnyChooses(late_, protocol);
  fate.duplicated = AnyChooses(duplicate_, protocol);
  if (lost) {
    fate.dropped = Reason::kLoss;
    return fate;
  }
  if (!Enqueue(bytes, time)) {
    fate.dropped = Reason::kQueue;
    return fate;
  }
  absl::Duration delay = settings_.delay + DrawJitter(settings_.jitter, jitter_);
  fate.arrives = time + std::max(delay, absl::ZeroDuration());
  if (late) {
    fate.arrives += settings_.late_by;
  } else if (!settings_.reorder) {
    fate.arrives = std::max(fate.arrives, last_arrival_);
    last_arrival_ = fate.arrives;
  }
  return fate;
}

bool Link::Enqueue(size_t bytes, absl::Duration& time) {
  if (settings_.rate_bps == 0) return true;
  while (!queue_.empty() && queue_.front().first <= time) {
    queued_bytes_ -= queue_.front().second;
    queue_.pop_front();
  }
  // Drop tail; an idle link takes any packet.
  if (!queue_.empty() && queued_bytes_ + bytes > settings_.queue_bytes) return false;
  absl::Duration start = queue_.empty() ? time : queue_.back().first;
  time = start + absl::Seconds(static_cast<double>(bytes) * 8 / settings_.rate_bps);
  queue_.emplace_back(time, bytes);
  queued_bytes_ += bytes;
  return true;
}

}  // namespace assay::pathsim
