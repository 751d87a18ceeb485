// pathsim: joins two network namespaces by a path of simulated routers. README.md.
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/pathsim/driver/driver.h"
#include "tests/pathsim/scenario/reader.h"

namespace assay::pathsim {
namespace {

constexpr char kUsage[] =
    "usage: pathsim [--near NAME] [--far NAME] [--record FILE] SCENARIO.yaml [-- COMMAND ...]\n"
    "\n"
    "Joins two new network namespaces (path-near, path-far) by the path of the scenario and runs\n"
    "COMMAND in the near one; without a COMMAND it prints \"ready\" and waits for SIGTERM or "
    "SIGINT.\n"
    "Exits as COMMAND does; 2: usage or scenario, 4: cannot set up the path. Namespaces and "
    "devices\n"
    "go when it ends.\n";

int FailedWith(const absl::Status& status, int code) {
  std::fprintf(stderr, "pathsim: %s\n", std::string(status.message()).c_str());
  return code;
}

struct Arguments {
  DriverOptions options = {.near_name = "path-near", .far_name = "path-far"};
  std::string scenario;
  std::vector<char*> command;  // with a null at the end; empty: none
};

bool ParseArguments(int argc, char** argv, Arguments& arguments) {
  const option known[] = {{"near", required_argument, nullptr, 'n'},
                          {"far", required_argument, nullptr, 'f'},
                          {"record", required_argument, nullptr, 'r'},
                          {nullptr, 0, nullptr, 0}};
  // "+": stops at the first operand, so that COMMAND keeps its options.
  for (int key; (key = getopt_long(argc, argv, "+", known, nullptr)) != -1;) {
    if (key == 'n') {
      arguments.options.near_name = optarg;
    } else if (key == 'f') {
      arguments.options.far_name = optarg;
    } else if (key == 'r') {
      arguments.options.record_file = optarg;
    } else {
      return false;
    }
  }
  if (optind >= argc) return false;
  arguments.scenario = argv[optind++];
  if (optind == argc) return true;
  if (std::string(argv[optind++]) != "--" || optind == argc) return false;
  arguments.command.assign(argv + optind, argv + argc);
  arguments.command.push_back(nullptr);
  return true;
}

pid_t StartCommand(const Arguments& arguments, const sigset_t& signals) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  if (absl::Status status = EnterNameSpace(arguments.options.near_name); !status.ok()) {
    _exit(FailedWith(status, 4));
  }
  execvp(arguments.command[0], arguments.command.data());
  FailedWith(absl::ErrnoToStatus(errno, absl::StrCat("cannot run ", arguments.command[0])), 127);
  _exit(127);
}

// The exit code of the command, ended where it still runs.
int EndCommand(pid_t pid, int pidfd, bool running) {
  if (running) {
    kill(pid, SIGTERM);
    pollfd poll_end = {pidfd, POLLIN, 0};
    if (poll(&poll_end, 1, 2000) == 0) kill(pid, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, arguments)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  absl::StatusOr<Scenario> scenario = ReadScenarioFile(arguments.scenario);
  if (!scenario.ok()) return FailedWith(scenario.status(), 2);

  // Blocked before anything is made, so that a signal at any time finds its way to the end of Main.
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Descriptor signal_file(signalfd(-1, &signals, SFD_CLOEXEC));

  auto driver = Driver::Create(*std::move(scenario), arguments.options);
  if (!driver.ok()) return FailedWith(driver.status(), 4);
  std::vector<int> stops = {signal_file.get()};
  pid_t pid = -1;
  Descriptor pidfd;
  if (!arguments.command.empty()) {
    pid = StartCommand(arguments, signals);
    if (pid < 0) return FailedWith(absl::ErrnoToStatus(errno, "fork"), 4);
    pidfd = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    stops.push_back(pidfd.get());
  } else {
    std::puts("ready");
    std::fflush(stdout);
  }
  absl::StatusOr<int> stop = (*driver)->Run(stops);
  int code = pid > 0 ? EndCommand(pid, pidfd.get(), !stop.ok() || *stop == 0) : 0;
  if (!stop.ok()) return FailedWith(stop.status(), 4);
  return code;
}

}  // namespace
}  // namespace assay::pathsim

int main(int argc, char** argv) { return assay::pathsim::Main(argc, argv); }
