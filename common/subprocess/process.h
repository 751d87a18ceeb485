// Child processes: started without a shell, ended for certain.
//
// A child dies with the process that started it (PR_SET_PDEATHSIG). The kernel ties that to the
// *thread* that calls Start(): call it from one that lives as long as the child should. It does not
// hold for programs that gain rights by exec (set-uid, file capabilities): the kernel forgets it.
#ifndef ASSAY_COMMON_SUBPROCESS_PROCESS_H_
#define ASSAY_COMMON_SUBPROCESS_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace assay::subprocess {

// Where a child's standard output or standard error goes.
struct Sink {
  enum class Kind { kInherit, kDiscard, kPipe, kFile };
  Kind kind = Kind::kInherit;
  std::string path;  // kFile: appended to, created with mode 0600
  static Sink Inherit() { return {}; }
  static Sink Discard() { return {Kind::kDiscard, ""}; }
  // Read with Process::ReadLine(); for standard output only.
  static Sink Pipe() { return {Kind::kPipe, ""}; }
  static Sink File(std::string path) { return {Kind::kFile, std::move(path)}; }
};

struct Options {
  // argv[0] is looked up in $PATH when it has no slash.
  std::vector<std::string> argv;
  // Added to the environment of this process; replaces what has the same name. A secret belongs
  // here and never in argv, which every user of the host can read.
  std::vector<std::pair<std::string, std::string>> environment;
  Sink standard_output;
  Sink standard_error;
  // In its own process group a child does not get the terminal's Ctrl-C; Terminate() then signals
  // the whole group.
  bool own_group = true;
  bool die_with_parent = true;
};

// How a child ended.
struct ExitStatus {
  int code = 0;    // of exit(); meaningless where signal is not 0
  int signal = 0;  // that killed it; 0: it exited
  bool ok() const { return signal == 0 && code == 0; }
};

// One child. Not thread-safe. Standard input is /dev/null; no other descriptor is inherited.
class Process {
 public:
  // NOT_FOUND or PERMISSION_DENIED where the program cannot be run; INVALID_ARGUMENT for an empty
  // argv; INTERNAL otherwise.
  static absl::StatusOr<Process> Start(const Options& options);

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Kills and reaps a child that still runs.
  ~Process();

  pid_t pid() const { return pid_; }
  // The program, as given.
  const std::string& name() const { return name_; }

  // Waits for the end, at most `timeout` (0: looks only). nullopt: it still runs. A child that has
  // ended is reaped at once and its status remembered.
  std::optional<ExitStatus> Wait(absl::Duration timeout);

  // SIGTERM, then SIGKILL after `grace`; returns when it has ended.
  ExitStatus Terminate(absl::Duration grace);

  absl::Status Signal(int signal);

  // The next line of standard output without its end; the last one may lack it. DEADLINE_EXCEEDED
  // after `timeout`, OUT_OF_RANGE at the end of the output, RESOURCE_EXHAUSTED for a line longer
  // than 64 KiB. FAILED_PRECONDITION without Sink::Pipe().
  absl::StatusOr<std::string> ReadLine(absl::Duration timeout);

 private:
  Process() = default;
  // Reaps without blocking.
  void Reap();

  std::string name_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int output_ = -1;
  bool own_group_ = false;
  std::string buffer_;
  bool end_of_output_ = false;
  std::optional<ExitStatus> status_;
};

// The file that `name` means: itself when it has a slash, else the first executable in $PATH.
// NOT_FOUND.
absl::StatusOr<std::string> FindProgram(const std::string& name);

}  // namespace assay::subprocess

#endif  // ASSAY_COMMON_SUBPROCESS_PROCESS_H_
