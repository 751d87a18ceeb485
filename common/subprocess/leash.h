// Kills process groups when this process is gone, however it went.
//
// PR_SET_PDEATHSIG does not hold for programs with file capabilities, such as an agent that may
// send echo requests. A small process beside this one reads a socket whose other end only this
// process holds: when that closes, it sends SIGKILL to every group it was told of.
#ifndef ASSAY_COMMON_SUBPROCESS_LEASH_H_
#define ASSAY_COMMON_SUBPROCESS_LEASH_H_

#include <sys/types.h>

#include "absl/status/statusor.h"

namespace assay::subprocess {

class Leash {
 public:
  // Call before this process has a second thread.
  static absl::StatusOr<Leash> Create();
  Leash(Leash&& other) noexcept;
  Leash& operator=(Leash&& other) = delete;
  // Lets go: kills what is still on it, and waits for the helper to end.
  ~Leash();

  // `group` is the process id of a child with Options::own_group. Remove it once it is reaped: its
  // number may be given to another process.
  void Add(pid_t group);
  void Remove(pid_t group);

 private:
  Leash(int socket, pid_t helper) : socket_(socket), helper_(helper) {}
  void Send(pid_t value);

  int socket_;
  pid_t helper_;
};

}  // namespace assay::subprocess

#endif  // ASSAY_COMMON_SUBPROCESS_LEASH_H_
