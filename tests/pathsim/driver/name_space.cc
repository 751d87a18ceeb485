#include "tests/pathsim/driver/name_space.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/subprocess/process.h"

namespace assay::pathsim {
namespace {

std::string FileOf(const std::string& name) { return absl::StrCat("/run/netns/", name); }

// The helper's life. Between fork and exec only what is safe there: the parent may have threads.
[[noreturn]] void DeleteWhenClosed(int pipe, const std::vector<const char*>& names) {
  setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Holds no file of the parent's open, such as the pipe that a test runner reads to its end.
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  dup2(pipe, 3);
  close_range(4, ~0U, 0);
  char byte;
  while (read(3, &byte, 1) < 0 && errno == EINTR) {
  }
  for (const char* name : names) {
    pid_t child = fork();
    if (child == 0) {
      execlp("ip", "ip", "netns", "delete", name, nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
  }
  _exit(0);
}

}  // namespace

absl::Status RunIp(const std::vector<std::string>& arguments) {
  subprocess::Options options;
  options.argv = {"ip"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  ASSAY_ASSIGN_OR_RETURN(subprocess::Process process, subprocess::Process::Start(options));
  std::optional<subprocess::ExitStatus> status = process.Wait(absl::Minutes(1));
  if (status.has_value() && status->ok()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("'", absl::StrJoin(options.argv, " "), "' failed"));
}

absl::StatusOr<NameSpaces> NameSpaces::Create(const std::vector<std::string>& names) {
  std::vector<const char*> plain;
  for (const std::string& name : names) {
    if (access(FileOf(name).c_str(), F_OK) == 0) {
      return absl::AlreadyExistsError(
          absl::StrCat("the network namespace '", name, "' exists; name another"));
    }
    plain.push_back(name.c_str());
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  pid_t helper = fork();
  if (helper == 0) {
    close(ends[1]);
    DeleteWhenClosed(ends[0], plain);
  }
  close(ends[0]);
  if (helper < 0) {
    close(ends[1]);
    return absl::ErrnoToStatus(errno, "fork");
  }
  NameSpaces made(ends[1], helper);
  for (const std::string& name : names) {
    ASSAY_RETURN_IF_ERROR(RunIp({"netns", "add", name}));
    ASSAY_RETURN_IF_ERROR(RunIp({"-n", name, "link", "set", "lo", "up"}));
  }
  return made;
}

NameSpaces::NameSpaces(NameSpaces&& other) noexcept
    : pipe_(std::exchange(other.pipe_, -1)), helper_(std::exchange(other.helper_, -1)) {}

NameSpaces::~NameSpaces() {
  if (pipe_ < 0) return;
  close(pipe_);
  while (waitpid(helper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::Status EnterNameSpace(const std::string& name) {
  int file = open(FileOf(name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", FileOf(name)));
  int result = setns(file, CLONE_NEWNET);
  int error = errno;
  close(file);
  if (result == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(error, absl::StrCat("cannot enter ", FileOf(name)));
}

absl::Status RunInNameSpace(const std::string& name, const std::function<absl::Status()>& action) {
  absl::Status status;
  std::thread([&] {
    status = EnterNameSpace(name);
    if (status.ok()) status = action();
  }).join();
  return status;
}

}  // namespace assay::pathsim
