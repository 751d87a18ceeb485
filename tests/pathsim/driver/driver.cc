#include "tests/pathsim/driver/driver.h"

#include <sched.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace assay::pathsim {
namespace {

constexpr absl::Duration kWakeEarly = absl::Microseconds(80);
constexpr absl::Duration kLeisure = absl::Milliseconds(2);  // enough to write the record
constexpr size_t kMostText = 1 << 20;
constexpr int kFirstStop = 10;  // epoll's data: below it, the devices and the timer

absl::Duration MonotonicNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return absl::DurationFromTimespec(time);
}

absl::Time RealtimeNow() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return absl::TimeFromTimespec(time);
}

struct Incoming {
  absl::Duration time;
  Direction direction;
  Bytes bytes;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Driver>> Driver::Create(Scenario scenario, DriverOptions options) {
  ASSAY_ASSIGN_OR_RETURN(NameSpaces name_spaces,
                         NameSpaces::Create({options.near_name, options.far_name}));
  ASSAY_ASSIGN_OR_RETURN(Tun near, Tun::Create(options.near_name, scenario.near));
  ASSAY_ASSIGN_OR_RETURN(Tun far, Tun::Create(options.far_name, scenario.far));
  std::unique_ptr<Driver> driver(new Driver(std::move(scenario), std::move(options),
                                            std::move(name_spaces), std::move(near),
                                            std::move(far)));
  ASSAY_RETURN_IF_ERROR(driver->Open());
  return driver;
}

Driver::Driver(Scenario scenario, DriverOptions options, NameSpaces name_spaces, Tun near, Tun far)
    : options_(std::move(options)),
      name_spaces_(std::move(name_spaces)),
      near_(std::move(near)),
      far_(std::move(far)),
      path_(std::move(scenario)),
      record_(path_.scenario()),
      epoch_(MonotonicNow()) {}

absl::Status Driver::Open() {
  epoll_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!epoll_.ok() || !timer_.ok()) return absl::ErrnoToStatus(errno, "epoll or timerfd");
  for (int descriptor : {near_.descriptor(), far_.descriptor(), timer_.get()}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
      return absl::ErrnoToStatus(errno, "epoll_ctl");
    }
  }
  if (options_.record_file.empty()) return absl::OkStatus();
  file_.open(options_.record_file, std::ios::trunc);
  if (!file_) {
    return absl::UnavailableError(absl::StrCat("cannot write the record ", options_.record_file));
  }
  return absl::OkStatus();
}

absl::Duration Driver::Now() const { return MonotonicNow() - epoch_; }

void Driver::WriteStart(bool real_time) {
  absl::StrAppend(
      &text_, "{\"what\":\"start\",\"seed\":", path_.scenario().seed,
      ",\"epoch_monotonic_ns\":", absl::ToInt64Nanoseconds(epoch_),
      ",\"epoch_realtime_ns\":", absl::ToUnixNanos(RealtimeNow() - (MonotonicNow() - epoch_)),
      ",\"real_time\":", real_time ? "true" : "false", "}\n");
}

absl::StatusOr<int> Driver::Run(absl::Span<const int> stop_descriptors) {
  for (size_t i = 0; i < stop_descriptors.size(); ++i) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = kFirstStop + static_cast<int>(i);
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_descriptors[i], &event) != 0) {
      return absl::ErrnoToStatus(errno, "epoll_ctl of a stop descriptor");
    }
  }
  sched_param priority = {};
  priority.sched_priority = 10;
  // The pid 0 is this thread. What it starts is not to be real-time.
  bool real_time =
      options_.real_time && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
  absl::Cleanup ordinary = [real_time] {
    sched_param none = {};
    if (real_time) sched_setscheduler(0, SCHED_OTHER, &none);
  };
  WriteStart(real_time);
  int stop = -1;
  while (stop < 0) {
    ASSAY_ASSIGN_OR_RETURN(stop, Sleep());
    TakeIn();
    ASSAY_RETURN_IF_ERROR(Release());
  }
  text_ += record_.Totals(path_.InFlight());
  Flush();
  return stop;
}

absl::StatusOr<int> Driver::Sleep() {
  std::optional<Path::Upcoming> next = path_.Next();
  absl::Duration left = next ? next->time - Now() : absl::InfiniteDuration();
  if (left > kLeisure || text_.size() > kMostText) Flush();
  int timeout_ms = -1;
  if (next) {
    absl::Duration early = next->soon_delivered ? kWakeEarly : absl::ZeroDuration();
    if (left <= early) {
      timeout_ms = 0;
    } else {
      // Relative to 1970 or to the boot, 0 would disarm it; the epoch is never that near.
      itimerspec at = {};
      at.it_value = absl::ToTimespec(epoch_ + next->time - early);
      timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
    }
  }
  std::array<epoll_event, 8> events;
  int count = epoll_wait(epoll_.get(), events.data(), events.size(), timeout_ms);
  if (count < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "epoll_wait");
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd >= kFirstStop) return events[i].data.fd - kFirstStop;
  }
  uint64_t expirations;
  // Nothing to learn from it; unread it would stay readable.
  [[maybe_unused]] ssize_t got = read(timer_.get(), &expirations, sizeof(expirations));
  return -1;
}

void Driver::TakeIn() {
  std::vector<Incoming> incoming;
  // One offset for the batch: the stamps are of CLOCK_REALTIME, which may be stepped.
  const absl::Duration read_at = Now();
  const absl::Time epoch = RealtimeNow() - read_at;
  for (Direction direction : {Direction::kForward, Direction::kReverse}) {
    Tun& tun = direction == Direction::kForward ? near_ : far_;
    while (std::optional<Tun::Packet> packet = tun.Read()) {
      absl::Duration time = packet->sent ? *packet->sent - epoch : Now();
      for (; packet->dropped_before > 0; --packet->dropped_before) {
        Event event;
        event.time = time;
        event.what = What::kDropped;
        event.reason = Reason::kHostQueue;
        event.direction = direction;
        event.place = direction == Direction::kForward ? kNearHost : kFarHost;
        record_.Add(event, text_);
      }
      incoming.push_back({time, direction, std::move(packet->bytes)});
    }
  }
  std::stable_sort(incoming.begin(), incoming.end(),
                   [](const Incoming& a, const Incoming& b) { return a.time < b.time; });
  for (Incoming& packet : incoming) {
    path_.AdvanceTo(packet.time, outcome_);
    path_.Inject(packet.time, packet.direction, std::move(packet.bytes), outcome_);
  }
}

absl::Status Driver::Release() {
  path_.AdvanceTo(Now(), outcome_);
  // Packets first, words later.
  std::vector<absl::Duration> released;
  for (const Delivery& delivery : outcome_.deliveries) {
    Tun& tun = delivery.to == Direction::kForward ? far_ : near_;
    released.push_back(Now());
    ASSAY_RETURN_IF_ERROR(tun.Write(delivery.bytes));
  }
  for (const Event& event : outcome_.events) record_.Add(event, text_);
  for (size_t i = 0; i < released.size(); ++i) {
    record_.Deliver(outcome_.deliveries[i], released[i], text_);
  }
  outcome_.events.clear();
  outcome_.deliveries.clear();
  return absl::OkStatus();
}

void Driver::Flush() {
  if (file_.is_open())
    file_.write(text_.data(), static_cast<std::streamsize>(text_.size())).flush();
  text_.clear();
}

}  // namespace assay::pathsim
