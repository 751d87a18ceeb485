#include "common/subprocess/leash.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "common/subprocess/process.h"

namespace assay::subprocess {
namespace {

constexpr absl::Duration kLimit = absl::Seconds(60);

Options Sleeper() {
  Options options;
  options.argv = {"/bin/sleep", "1000"};
  options.die_with_parent = false;  // only the leash is to hold it
  return options;
}

bool DiesWithin(pid_t pid, absl::Duration limit) {
  for (absl::Time end = absl::Now() + limit; absl::Now() < end;) {
    if (kill(pid, 0) != 0) return true;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return false;
}

// A process that starts a child, tells its id, and waits to be killed.
TEST(LeashTest, AKilledOwnerTakesItsGroupsWithIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t owner = fork();
  if (owner == 0) {
    auto leash = Leash::Create();
    auto process = Process::Start(Sleeper());
    pid_t child = process.ok() ? process->pid() : -1;
    if (leash.ok()) leash->Add(child);
    ssize_t written = write(ends[1], &child, sizeof(child));
    (void)written;
    pause();
    _exit(0);
  }
  pid_t child = -1;
  ASSERT_EQ(read(ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  ASSERT_GT(child, 0);

  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);

  EXPECT_TRUE(DiesWithin(child, kLimit));
  close(ends[0]);
  close(ends[1]);
}

TEST(LeashTest, LettingGoKillsWhatIsOnItAndSparesWhatWasRemoved) {
  auto held = Process::Start(Sleeper());
  auto removed = Process::Start(Sleeper());
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(removed.ok());
  {
    auto leash = Leash::Create();
    ASSERT_TRUE(leash.ok());
    leash->Add(held->pid());
    leash->Add(removed->pid());
    leash->Remove(removed->pid());
  }

  auto status = held->Wait(kLimit);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->signal, SIGKILL);
  EXPECT_FALSE(removed->Wait(absl::ZeroDuration()).has_value());
}

TEST(LeashTest, AHelperThatWasKilledDoesNoHarm) {
  auto leash = Leash::Create();
  ASSERT_TRUE(leash.ok());
  // The helper is the only child of this process.
  std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t helper = 0;
  ASSERT_TRUE(children >> helper);
  ASSERT_EQ(kill(helper, SIGKILL), 0);
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, helper, &info, WEXITED | WNOWAIT), 0);

  auto process = Process::Start(Sleeper());
  ASSERT_TRUE(process.ok());
  leash->Add(process->pid());
  leash->Remove(process->pid());

  EXPECT_FALSE(process->Wait(absl::ZeroDuration()).has_value());
}

}  // namespace
}  // namespace assay::subprocess
