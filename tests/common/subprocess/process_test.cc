#include "common/subprocess/process.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"

namespace assay::subprocess {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kLong = absl::Seconds(60);

Options Shell(const std::string& script) {
  Options options;
  options.argv = {"/bin/sh", "-c", script};
  options.standard_output = Sink::Pipe();
  return options;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// State letter in /proc/<pid>/stat; '-' when there is no such process.
char StateOf(pid_t pid) {
  std::string stat = ReadAll(absl::StrCat("/proc/", pid, "/stat"));
  size_t end = stat.rfind(')');
  return end == std::string::npos ? '-' : stat[end + 2];
}

bool GoneWithin(pid_t pid, absl::Duration limit) {
  for (absl::Time end = absl::Now() + limit; absl::Now() < end;) {
    char state = StateOf(pid);
    if (state == '-' || state == 'Z') return true;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return false;
}

TEST(ProcessTest, ReportsExitCode) {
  auto process = Process::Start(Shell("exit 7"));
  ASSERT_TRUE(process.ok()) << process.status();

  auto status = process->Wait(kLong);

  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, 7);
  EXPECT_EQ(status->signal, 0);
}

TEST(ProcessTest, ReportsTheSignalThatKilledIt) {
  auto process = Process::Start(Shell("kill -USR1 $$"));
  ASSERT_TRUE(process.ok());

  auto status = process->Wait(kLong);

  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->signal, SIGUSR1);
  EXPECT_FALSE(status->ok());
}

TEST(ProcessTest, ArgumentsReachTheProgramUntouched) {
  Options options;
  options.argv = {"printf", "%s\\n", "two words; $(id) 'q' \"d\" *"};
  options.standard_output = Sink::Pipe();

  auto process = Process::Start(options);

  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_EQ(process->ReadLine(kLong).value(), "two words; $(id) 'q' \"d\" *");
}

TEST(ProcessTest, EnvironmentReplacesAndAdds) {
  setenv("ASSAY_SUBPROCESS_TEST", "old", 1);
  Options options = Shell("echo $ASSAY_SUBPROCESS_TEST; echo $ASSAY_SUBPROCESS_NEW");
  options.environment = {{"ASSAY_SUBPROCESS_TEST", "new"}, {"ASSAY_SUBPROCESS_NEW", "added"}};

  auto process = Process::Start(options);

  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->ReadLine(kLong).value(), "new");
  EXPECT_EQ(process->ReadLine(kLong).value(), "added");
}

TEST(ProcessTest, LinesEndWithTheOutput) {
  auto process = Process::Start(Shell("printf 'a\\n\\nlast'"));
  ASSERT_TRUE(process.ok());

  EXPECT_EQ(process->ReadLine(kLong).value(), "a");
  EXPECT_EQ(process->ReadLine(kLong).value(), "");
  EXPECT_EQ(process->ReadLine(kLong).value(), "last");
  EXPECT_EQ(process->ReadLine(kLong).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(ProcessTest, ReadLineGivesUpInTime) {
  auto process = Process::Start(Shell("exec sleep 1000"));
  ASSERT_TRUE(process.ok());

  EXPECT_EQ(process->ReadLine(absl::Milliseconds(20)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(ProcessTest, AnEndlessLineIsRefused) {
  auto process = Process::Start(Shell("while :; do printf 0123456789012345678901234567890; done"));
  ASSERT_TRUE(process.ok());

  EXPECT_EQ(process->ReadLine(kLong).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ProcessTest, OutputGoesToAFileThatIsAppendedTo) {
  std::string path = absl::StrCat(testing::TempDir(), "/process_test_log.", getpid());
  for (const char* word : {"first", "second"}) {
    Options options = Shell(absl::StrCat("echo ", word, "; echo ", word, "-err >&2"));
    options.standard_output = Sink::File(path);
    options.standard_error = Sink::File(path);
    auto process = Process::Start(options);
    ASSERT_TRUE(process.ok());
    process->Wait(kLong);
  }

  EXPECT_EQ(ReadAll(path), "first\nfirst-err\nsecond\nsecond-err\n");
  unlink(path.c_str());
}

TEST(ProcessTest, AMissingProgramIsNotFoundAndNamed) {
  Options options;
  options.argv = {"assay-no-such-program"};

  auto process = Process::Start(options);

  EXPECT_EQ(process.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(process.status().message()), HasSubstr("assay-no-such-program"));
}

TEST(ProcessTest, AFileThatIsNoProgramFailsAtStart) {
  Options options;
  options.argv = {"/etc/passwd"};

  EXPECT_EQ(Process::Start(options).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(ProcessTest, AFailedExecIsReportedAndLeavesNoZombie) {
  std::string path = absl::StrCat(testing::TempDir(), "/process_test_garbage.", getpid());
  std::ofstream(path) << "#!/no/such/interpreter\n";
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  Options options;
  options.argv = {path};

  auto process = Process::Start(options);

  EXPECT_EQ(process.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  unlink(path.c_str());
}

TEST(ProcessTest, WaitOfZeroOnlyLooks) {
  auto process = Process::Start(Shell("exec sleep 1000"));
  ASSERT_TRUE(process.ok());

  EXPECT_FALSE(process->Wait(absl::ZeroDuration()).has_value());
}

TEST(ProcessTest, TerminateIsGentleFirst) {
  auto process =
      Process::Start(Shell("trap 'exit 42' TERM; echo ready; while :; do sleep 1; done"));
  ASSERT_TRUE(process.ok());
  ASSERT_EQ(process->ReadLine(kLong).value(), "ready");

  EXPECT_EQ(process->Terminate(kLong).code, 42);
}

TEST(ProcessTest, TerminateKillsWhatIgnoresIt) {
  auto process = Process::Start(Shell("trap '' TERM; echo ready; while :; do sleep 1; done"));
  ASSERT_TRUE(process.ok());
  ASSERT_EQ(process->ReadLine(kLong).value(), "ready");

  EXPECT_EQ(process->Terminate(absl::Milliseconds(20)).signal, SIGKILL);
}

TEST(ProcessTest, TerminateReachesGrandchildren) {
  auto process = Process::Start(Shell("sleep 1000 & echo $!; wait"));
  ASSERT_TRUE(process.ok());
  int grandchild = 0;
  ASSERT_TRUE(absl::SimpleAtoi(process->ReadLine(kLong).value(), &grandchild));

  process->Terminate(kLong);

  EXPECT_TRUE(GoneWithin(grandchild, kLong));
}

TEST(ProcessTest, DestructionReaps) {
  pid_t pid;
  {
    auto process = Process::Start(Shell("exec sleep 1000"));
    ASSERT_TRUE(process.ok());
    pid = process->pid();
  }

  EXPECT_EQ(StateOf(pid), '-');
}

TEST(ProcessTest, OnlyStandardDescriptorsAreInherited) {
  // On purpose without O_CLOEXEC, and above the numbers that the shell itself uses.
  int leak = fcntl(STDERR_FILENO, F_DUPFD, 500);
  ASSERT_GE(leak, 500);
  auto process = Process::Start(Shell("ls /proc/$$/fd | tr '\\n' ' '; echo"));
  ASSERT_TRUE(process.ok());

  std::string open_in_child = process->ReadLine(kLong).value();

  for (absl::string_view fd : absl::StrSplit(open_in_child, ' ', absl::SkipEmpty())) {
    EXPECT_NE(fd, absl::StrCat(leak));
  }
  close(leak);
}

TEST(ProcessTest, ChildrenStartWithOrdinarySignals) {
  signal(SIGPIPE, SIG_IGN);
  auto process = Process::Start(Shell("grep SigIgn /proc/$$/status"));
  ASSERT_TRUE(process.ok());

  std::string line = process->ReadLine(kLong).value();

  signal(SIGPIPE, SIG_DFL);
  std::vector<std::string> parts = absl::StrSplit(line, '\t');
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(strtoull(parts[1].c_str(), nullptr, 16) & (1ull << (SIGPIPE - 1)), 0u) << line;
}

// A parent that is killed with SIGKILL can clean up nothing itself.
TEST(ProcessTest, ChildDiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t parent = fork();
  if (parent == 0) {
    auto process = Process::Start(Shell("exec sleep 1000"));
    pid_t child = process.ok() ? process->pid() : -1;
    ssize_t written = write(ends[1], &child, sizeof(child));
    (void)written;
    pause();
    _exit(0);
  }
  pid_t child = -1;
  ASSERT_EQ(read(ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  ASSERT_GT(child, 0);
  ASSERT_NE(StateOf(child), '-');

  ASSERT_EQ(kill(parent, SIGKILL), 0);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);

  EXPECT_TRUE(GoneWithin(child, kLong));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace assay::subprocess
