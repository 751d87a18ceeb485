#include "common/subprocess/leash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "common/base/message.h"

namespace assay::subprocess {
namespace {

// The helper: a positive number adds a group, a negative one removes it.
[[noreturn]] void HoldLeash(int socket) {
  // Its own session: what the terminal sends is not for it. Nothing of the parent stays open, so
  // that whoever reads the parent's output sees its end.
  setsid();
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_IGN);
  dup2(socket, 0);
  if (syscall(SYS_close_range, 1U, ~0U, 0U) != 0) {
    for (int fd = 1; fd < 1024; ++fd) close(fd);
  }
  std::set<pid_t> groups;
  pid_t value = 0;
  while (true) {
    ssize_t got = recv(0, &value, sizeof(value), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof(value))) break;
    if (value > 0) groups.insert(value);
    if (value < 0) groups.erase(-value);
  }
  for (pid_t group : groups) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

absl::StatusOr<Leash> Leash::Create() {
  int ends[2];
  // Sequenced packets keep numbers whole.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error(absl::StatusCode::kInternal, "system.open_failed",
                 {{"path", "socketpair"}, {"detail", strerror(errno)}});
  }
  pid_t helper = fork();
  if (helper < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return Error(absl::StatusCode::kInternal, "system.start_failed",
                 {{"program", "fork"}, {"detail", strerror(error)}});
  }
  if (helper == 0) HoldLeash(ends[1]);
  close(ends[1]);
  return Leash(ends[0], helper);
}

Leash::Leash(Leash&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), helper_(std::exchange(other.helper_, -1)) {}

Leash::~Leash() {
  if (socket_ < 0) return;
  close(socket_);
  while (waitpid(helper_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void Leash::Add(pid_t group) { Send(group); }

void Leash::Remove(pid_t group) { Send(-group); }

void Leash::Send(pid_t value) {
  if (socket_ < 0 || value == 0) return;
  // A helper that somebody killed holds nothing any more; PR_SET_PDEATHSIG is still there.
  while (send(socket_, &value, sizeof(value), MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

}  // namespace assay::subprocess
