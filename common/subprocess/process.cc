// Invariant: pid_ is reaped exactly once, in Reap(), which sets status_; nothing signals pid_ after
// that, so a recycled process id is never hit. Between fork and exec only async-signal-safe calls
// are made: everything they need is prepared before.
#include "common/subprocess/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"

extern char** environ;

namespace assay::subprocess {
namespace {

constexpr size_t kMaxLine = 64 << 10;

absl::Status StartError(const std::string& program, int error) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  if (error == ENOENT || error == ENOTDIR) code = absl::StatusCode::kNotFound;
  if (error == EACCES || error == EPERM) code = absl::StatusCode::kPermissionDenied;
  return Error(code, "system.start_failed", {{"program", program}, {"detail", strerror(error)}});
}

void CloseFd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// A descriptor for a sink; -1 for kInherit. For kPipe the reading end goes to `read_end`.
absl::StatusOr<int> OpenSink(const Sink& sink, int& read_end) {
  switch (sink.kind) {
    case Sink::Kind::kInherit:
      return -1;
    case Sink::Kind::kDiscard:
    case Sink::Kind::kFile: {
      const char* path = sink.kind == Sink::Kind::kFile ? sink.path.c_str() : "/dev/null";
      int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      if (fd >= 0) return fd;
      return Error(absl::StatusCode::kInternal, "system.open_failed",
                   {{"path", path}, {"detail", strerror(errno)}});
    }
    case Sink::Kind::kPipe: {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) {
        return Error(absl::StatusCode::kInternal, "system.open_failed",
                     {{"path", "pipe"}, {"detail", strerror(errno)}});
      }
      fcntl(ends[0], F_SETFL, O_NONBLOCK);
      read_end = ends[0];
      return ends[1];
    }
  }
  return absl::InternalError("unknown sink");
}

std::vector<std::string> MergedEnvironment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    absl::string_view text(*entry);
    bool replaced = std::any_of(added.begin(), added.end(), [&](const auto& pair) {
      return absl::StartsWith(text, absl::StrCat(pair.first, "="));
    });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(absl::StrCat(name, "=", value));
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the child does between fork and exec.
struct ChildPlan {
  const char* path;
  char** argv;
  char** envp;
  int input;
  int output;
  int error;
  int report;  // errno of a failed step goes here; closed by a successful exec
  bool own_group;
  bool die_with_parent;
  pid_t parent;
};

[[noreturn]] void RunChild(const ChildPlan& plan) {
  auto fail = [&] {
    int error = errno;
    ssize_t ignored = write(plan.report, &error, sizeof(error));
    (void)ignored;
    _exit(127);
  };
  if (plan.own_group && setpgid(0, 0) != 0) fail();
  if (plan.die_with_parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
    if (getppid() != plan.parent) _exit(127);  // it died before the line above
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) signal(number, SIG_DFL);
  if (dup2(plan.input, STDIN_FILENO) < 0) fail();
  if (plan.output >= 0 && dup2(plan.output, STDOUT_FILENO) < 0) fail();
  if (plan.error >= 0 && dup2(plan.error, STDERR_FILENO) < 0) fail();
  // Descriptors that somebody forgot to mark. Kernels before 5.11 cannot; nothing depends on it.
  syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  execve(plan.path, plan.argv, plan.envp);
  fail();
  _exit(127);
}

int Milliseconds(absl::Duration left) {
  int64_t ms = absl::ToInt64Milliseconds(absl::Ceil(left, absl::Milliseconds(1)));
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 1 << 30));
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  if (absl::StrContains(name, "/")) {
    if (access(name.c_str(), X_OK) == 0) return name;
    return StartError(name, errno);
  }
  const char* path = getenv("PATH");
  for (absl::string_view directory :
       absl::StrSplit(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, ':')) {
    std::string candidate = absl::StrCat(directory.empty() ? "." : directory, "/", name);
    struct stat info;
    if (stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return StartError(name, ENOENT);
}

absl::StatusOr<Process> Process::Start(const Options& options) {
  if (options.argv.empty()) return absl::InvalidArgumentError("a process needs an argv");
  ASSAY_ASSIGN_OR_RETURN(std::string path, FindProgram(options.argv[0]));

  Process process;
  process.name_ = options.argv[0];
  process.own_group_ = options.own_group;
  int unused = -1;
  int input = -1, output = -1, error = -1, report[2] = {-1, -1};
  auto close_all = absl::MakeCleanup([&] {
    for (int* fd : {&unused, &input, &output, &error, &report[0], &report[1]}) CloseFd(*fd);
  });
  if ((input = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) return StartError(path, errno);
  ASSAY_ASSIGN_OR_RETURN(output, OpenSink(options.standard_output, process.output_));
  ASSAY_ASSIGN_OR_RETURN(error, OpenSink(options.standard_error, unused));
  if (pipe2(report, O_CLOEXEC) != 0) return StartError(path, errno);

  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = MergedEnvironment(options.environment);
  std::vector<char*> argv = Pointers(arguments);
  std::vector<char*> envp = Pointers(environment);
  ChildPlan plan = {path.c_str(),
                    argv.data(),
                    envp.data(),
                    input,
                    output,
                    error,
                    report[1],
                    options.own_group,
                    options.die_with_parent,
                    getpid()};

  pid_t pid = fork();
  if (pid < 0) return StartError(path, errno);
  if (pid == 0) RunChild(plan);
  process.pid_ = pid;
  // Also from this side, so that Terminate() finds the group whoever is first.
  if (options.own_group) setpgid(pid, pid);
  process.pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));

  CloseFd(report[1]);
  int child_errno = 0;
  ssize_t got;
  do {
    got = read(report[0], &child_errno, sizeof(child_errno));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(child_errno))) {
    process.Wait(absl::InfiniteDuration());
    return StartError(path, child_errno);
  }
  return process;
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  if (pid_ > 0 && !status_.has_value()) Terminate(absl::ZeroDuration());
  CloseFd(pidfd_);
  CloseFd(output_);
  name_ = std::move(other.name_);
  pid_ = std::exchange(other.pid_, -1);
  pidfd_ = std::exchange(other.pidfd_, -1);
  output_ = std::exchange(other.output_, -1);
  own_group_ = other.own_group_;
  buffer_ = std::move(other.buffer_);
  end_of_output_ = other.end_of_output_;
  status_ = other.status_;
  return *this;
}

Process::~Process() {
  if (pid_ > 0 && !status_.has_value()) Terminate(absl::ZeroDuration());
  CloseFd(pidfd_);
  CloseFd(output_);
}

void Process::Reap() {
  if (status_.has_value() || pid_ <= 0) return;
  int raw = 0;
  pid_t got;
  do {
    got = waitpid(pid_, &raw, WNOHANG);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return;
  ExitStatus status;
  if (got < 0) {
    status.code = 127;  // ECHILD: somebody else reaped it; all we know is that it is gone
  } else if (WIFSIGNALED(raw)) {
    status.signal = WTERMSIG(raw);
  } else {
    status.code = WEXITSTATUS(raw);
  }
  status_ = status;
}

std::optional<ExitStatus> Process::Wait(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    Reap();
    if (status_.has_value() || pid_ <= 0) return status_;
    absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return std::nullopt;
    if (pidfd_ >= 0) {
      pollfd entry = {pidfd_, POLLIN, 0};
      poll(&entry, 1, Milliseconds(left));
    } else {  // a kernel before 5.3, or a sandbox
      absl::SleepFor(std::min(left, absl::Milliseconds(10)));
    }
  }
}

absl::Status Process::Signal(int number) {
  Reap();
  if (pid_ <= 0 || status_.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(name_, " has ended"));
  }
  if (kill(own_group_ ? -pid_ : pid_, number) != 0) {
    return absl::InternalError(absl::StrCat("kill ", name_, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

ExitStatus Process::Terminate(absl::Duration grace) {
  if (pid_ <= 0) return {};
  if (grace > absl::ZeroDuration() && !Wait(absl::ZeroDuration()).has_value()) {
    Signal(SIGTERM).IgnoreError();
    Wait(grace);
  }
  if (!status_.has_value()) {
    Signal(SIGKILL).IgnoreError();
    Wait(absl::InfiniteDuration());
  }
  return status_.value_or(ExitStatus{});
}

absl::StatusOr<std::string> Process::ReadLine(absl::Duration timeout) {
  if (output_ < 0) return absl::FailedPreconditionError("standard output is not a pipe");
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    if (size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (end_of_output_) {
      if (buffer_.empty()) return absl::OutOfRangeError("end of output");
      return std::exchange(buffer_, "");
    }
    if (buffer_.size() > kMaxLine) {
      return absl::ResourceExhaustedError(absl::StrCat(name_, " printed an endless line"));
    }
    absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return absl::DeadlineExceededError("no line in time");
    pollfd entry = {output_, POLLIN, 0};
    if (poll(&entry, 1, Milliseconds(left)) <= 0) continue;
    char chunk[4096];
    ssize_t got = read(output_, chunk, sizeof(chunk));
    if (got > 0) {
      buffer_.append(chunk, static_cast<size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      end_of_output_ = true;
    }
  }
}

}  // namespace assay::subprocess
