// A child spools and removes results and is killed by signal 9 at a random moment, many times over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>

#include "agent/spool/file_format.h"
#include "agent/spool/spool.h"
#include "spdlog/spdlog.h"
#include "tests/agent/spool/results.h"

namespace assay::spool {
namespace {

using ::assay::testing::MakeResult;

constexpr int kRounds = 60;

// What the child tells after a call has returned.
struct Event {
  char what;  // 'p': put, 'r': about to remove
  uint32_t task;
};

std::string EvidenceOf(uint32_t task) {
  return std::string(100 + task * 7919 % 60000, static_cast<char>('a' + task % 26));
}

[[noreturn]] void Child(const std::string& state, uint32_t first, int report) {
  auto tell = [&](Event event) {
    if (write(report, &event, sizeof(event)) != sizeof(event)) _exit(1);
  };
  auto spool = OpenSpool(state + "/spool", state + "/corrupt");
  if (!spool.ok()) _exit(2);
  for (uint32_t task = first;; ++task) {
    if (!(*spool)->Put(MakeResult({"run", task, 1}, EvidenceOf(task))).ok()) _exit(3);
    tell({'p', task});
    if (task % 3 == 0) {
      tell({'r', task});
      if (!(*spool)->Remove({"run", task, 1}).ok()) _exit(4);
    }
  }
}

TEST(SpoolCrash, WhatPutReportedAsKeptIsThereAfterAnyDeath) {
  spdlog::set_level(spdlog::level::off);
  testing::TemporaryDirectory state;
  std::mt19937 random(20261201);
  std::map<TaskKey, bool> kept;  // false: it may have been removed
  uint32_t first = 0;
  for (int round = 0; round < kRounds; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0) {
      close(pipe_ends[0]);
      Child(state.path(), first, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    // Lets it come some way, then a random moment more.
    uint32_t wanted = random() % 6;
    Event event;
    auto read_event = [&] { return read(pipe_ends[0], &event, sizeof(event)) == sizeof(event); };
    auto note = [&] {
      kept[{"run", event.task, 1}] = event.what == 'p';
      first = std::max(first, event.task + 1);
    };
    for (uint32_t i = 0; i < wanted && read_event(); ++i) note();
    usleep(random() % 3000);
    kill(child, SIGKILL);
    while (read_event()) note();
    close(pipe_ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed by itself: " << WEXITSTATUS(status);
    first += 2;  // the one it was at may be there, too

    auto spool = OpenSpool(state.File("spool"), state.File("corrupt"));
    ASSERT_TRUE(spool.ok()) << spool.status();
    for (const auto& [key, surely] : kept) {
      ASSERT_TRUE(!surely || (*spool)->Has(key)) << key.ToString() << " in round " << round;
    }
    for (const TaskKey& key : (*spool)->List()) {
      auto result = (*spool)->Get(key);
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_EQ(result->result().evidence_zstd(), EvidenceOf(key.task));
    }
    for (const auto& entry : std::filesystem::directory_iterator(state.File("spool"))) {
      ASSERT_TRUE(IsResultFile(entry.path().filename().string())) << entry.path();
    }
  }
  EXPECT_GT(kept.size(), static_cast<size_t>(kRounds));
}

}  // namespace
}  // namespace assay::spool
