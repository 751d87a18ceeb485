// The coordinator is killed at any moment: every result that it acknowledged is there afterwards,
// and none is there twice.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/server/store/test_store.h"

namespace assay::store {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kTasks = 4000;
constexpr int kRounds = 20;

// In the child: appends every result over and over from several threads, as agents would, and
// writes the task's number to the pipe when the store says that it is stored.
[[noreturn]] void AppendForever(const std::string& path, int acknowledge) {
  std::unique_ptr<Store> store = OpenOrDie(path);
  uint32_t ready = kTasks;
  if (write(acknowledge, &ready, sizeof(ready)) != sizeof(ready)) _exit(1);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t task = t;; task = (task + 4) % kTasks) {
        absl::StatusOr<AppendResult> outcome = Append(*store, TestResult("run-1", task, 300));
        if (!outcome.ok() || outcome->outcome == AppendOutcome::kNotWanted) _exit(2);
        if (write(acknowledge, &task, sizeof(task)) != sizeof(task)) _exit(1);
      }
    });
  }
  threads[0].join();
  _exit(3);
}

TEST(CrashTest, KilledAtAnyMomentNothingAcknowledgedIsLostOrDoubled) {
  TestDirectory directory;
  const std::string path = directory.File("assay.db");
  {
    std::unique_ptr<Store> store = OpenOrDie(path);
    InsertTestRun(*store, "run-1", kTasks);
  }
  std::mt19937 random(20261201);
  std::set<uint32_t> acknowledged;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
      close(pipe_fds[0]);
      AppendForever(path, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    // Killed after some acknowledgements and a random while, which falls anywhere in a commit.
    uint32_t task = 0;
    uint32_t wanted = 1 + random() % 150;
    for (uint32_t seen = 0; seen < wanted && read(pipe_fds[0], &task, sizeof(task)) > 0; ++seen) {
      if (task < kTasks) acknowledged.insert(task);
    }
    absl::SleepFor(absl::Microseconds(random() % 3000));
    kill(child, SIGKILL);
    while (read(pipe_fds[0], &task, sizeof(task)) > 0) {
      if (task < kTasks) acknowledged.insert(task);
    }
    close(pipe_fds[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);

    std::unique_ptr<Store> store = OpenOrDie(path);
    std::vector<TaskRecord> tasks = store->ListTasks("run-1").value();
    for (uint32_t stored : acknowledged) {
      ASSERT_EQ(tasks[stored].state, v1::TASK_STATE_DONE) << "task " << stored << " was lost";
      ASSERT_NE(tasks[stored].result_id, 0);
    }
    store.reset();
    ASSERT_THAT(IntegrityOf(path), ElementsAre("ok"));
    // By the tables themselves: one result a task at most, tasks and results agree, none is torn.
    EXPECT_THAT(RawQuery(path, "SELECT count(*) - count(DISTINCT task) FROM results"),
                ElementsAre("0"));
    EXPECT_THAT(RawQuery(path,
                         "SELECT (SELECT count(*) FROM tasks WHERE state = 3) - "
                         "(SELECT count(*) FROM results)"),
                ElementsAre("0"));
    EXPECT_THAT(RawQuery(path,
                         "SELECT (SELECT count(*) FROM results) * 2 - "
                         "(SELECT count(*) FROM metrics)"),
                ElementsAre("0"));
    EXPECT_THAT(RawQuery(path,
                         "SELECT (SELECT count(*) FROM results) - "
                         "(SELECT count(*) FROM evidence)"),
                ElementsAre("0"));
  }
  EXPECT_GT(acknowledged.size(), 100u);
}

}  // namespace
}  // namespace assay::store
