// A host: a namespace whose one way out is a TUN device that this process holds.
#ifndef ASSAY_TESTS_PATHSIM_DRIVER_TUN_H_
#define ASSAY_TESTS_PATHSIM_DRIVER_TUN_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/pathsim/driver/descriptor.h"
#include "tests/pathsim/driver/send_times.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

class Tun {
 public:
  // The device "path0" in the namespace `name_space`, with the addresses, routes and MTU of `host`;
  // the kernel's own limits on ICMP answers are off, so that they aren't taken for the path's.
  static absl::StatusOr<Tun> Create(const std::string& name_space, const HostSettings& host);

  struct Packet {
    Bytes bytes;
    std::optional<absl::Time> sent;  // by the kernel's stamp
    int dropped_before = 0;          // by the device's queue
  };
  // The next packet that the host has sent; nullopt where there is none yet.
  std::optional<Packet> Read();

  // Gives it to the host.
  absl::Status Write(ByteView packet);

  int descriptor() const { return device_.get(); }

 private:
  Tun(Descriptor device, SendTimes times) : device_(std::move(device)), times_(std::move(times)) {}

  Descriptor device_;
  SendTimes times_;
  Bytes buffer_ = Bytes(65536);
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_DRIVER_TUN_H_
