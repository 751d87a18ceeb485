// Two network namespaces that vanish with this process, however it ends.
//
// A small helper process deletes them when the pipe to it closes: on destruction, on a crash, on
// SIGKILL. Devices without their process or namespace vanish by themselves.
#ifndef ASSAY_TESTS_PATHSIM_DRIVER_NAME_SPACE_H_
#define ASSAY_TESTS_PATHSIM_DRIVER_NAME_SPACE_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::pathsim {

class NameSpaces {
 public:
  // Makes /run/netns/NAME for each, with loopback up. ALREADY_EXISTS, UNAVAILABLE where `ip` fails
  // (which says why on standard error), INTERNAL.
  static absl::StatusOr<NameSpaces> Create(const std::vector<std::string>& names);
  NameSpaces(NameSpaces&& other) noexcept;
  NameSpaces& operator=(NameSpaces&& other) = delete;
  // Returns when they are gone.
  ~NameSpaces();

 private:
  NameSpaces(int pipe, pid_t helper) : pipe_(pipe), helper_(helper) {}

  int pipe_;
  pid_t helper_;
};

// Calls `action` on a thread of its own whose network namespace is `name`; sockets and devices made
// there stay there, /proc/sys/net is that of the namespace.
absl::Status RunInNameSpace(const std::string& name, const std::function<absl::Status()>& action);

// The calling thread, or a process of one thread, moves to it for good.
absl::Status EnterNameSpace(const std::string& name);

// Runs `ip` with these arguments. UNAVAILABLE where it fails.
absl::Status RunIp(const std::vector<std::string>& arguments);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_DRIVER_NAME_SPACE_H_
