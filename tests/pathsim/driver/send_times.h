// When the kernel sent each packet that was read from a TUN device.
//
// The reader of a TUN device may be late. A packet socket on the same device gets a copy of every
// packet, with the kernel's time stamp, just before the device does: both see one order. A copy
// whose packet never comes out of the device was dropped by the device's own queue.
#ifndef ASSAY_TESTS_PATHSIM_DRIVER_SEND_TIMES_H_
#define ASSAY_TESTS_PATHSIM_DRIVER_SEND_TIMES_H_

#include <deque>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/pathsim/driver/descriptor.h"
#include "tests/pathsim/packet/bytes.h"

namespace assay::pathsim {

class SendTimes {
 public:
  // For the device `name` of the calling thread's network namespace.
  static absl::StatusOr<SendTimes> Open(const std::string& name);

  struct Match {
    std::optional<absl::Time> sent;  // nullopt: the copy was lost; take the time of reading
    int dropped = 0;                 // packets sent before it that the device dropped
  };
  // `packet` is the next one read from the device.
  Match Find(ByteView packet);

 private:
  explicit SendTimes(Descriptor socket) : socket_(std::move(socket)) {}
  void Receive();

  struct Copy {
    absl::Time time;
    Bytes start;  // of the packet
  };
  Descriptor socket_;
  std::deque<Copy> copies_;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_DRIVER_SEND_TIMES_H_
