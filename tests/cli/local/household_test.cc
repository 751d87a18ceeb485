// The household with stand-ins for the other programs: small shell scripts that behave, or don't.
// With the real ones it is tested in tests/system.
#include "cli/local/household.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/local/interrupt.h"
#include "cli/local/next_steps.h"
#include "common/base/message.h"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;

class HouseholdTest : public ::testing::Test {
 protected:
  HouseholdTest() {
    std::string pattern = testing::TempDir() + "/household-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~HouseholdTest() override { std::filesystem::remove_all(folder_); }

  std::string Script(const std::string& name, const std::string& body) {
    std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0700);
    return path;
  }
  // A coordinator whose `serve` does this.
  absl::StatusOr<Household> Open(const std::string& serve) {
    Programs programs;
    programs.assayd =
        Script("assayd",
               "case $1 in\ninit) mkdir -p \"$3/admin\"; echo x > \"$3/admin/coordinator\";;\n"
               "serve) " +
                   serve + ";;\nesac");
    programs.agent = Script("assay-agent", "exit 1");
    return Household::Open(folder_ + "/home", programs, [this] { return keep_on_; });
  }
  std::string Log(const std::string& name) {
    std::ifstream file(absl::StrCat(folder_, "/home/logs/", name, ".log"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string folder_;
  absl::Status keep_on_;
};

TEST_F(HouseholdTest, TheCoordinatorIsStartedOnceItListensAndStoppedForGood) {
  auto household = Open("echo $$ > $3/pid; echo 'listening on 127.0.0.1:1'; exec sleep 1000");
  ASSERT_TRUE(household.ok()) << household.status();

  ASSERT_TRUE(household->StartCoordinator().ok());
  EXPECT_TRUE(household->Check().ok());
  pid_t pid = 0;
  std::ifstream(household->coordinator_directory() + "/pid") >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_EQ(kill(pid, 0), 0);
  household->Stop();

  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(HouseholdTest, ACoordinatorThatEndsIsToldOfWithItsLastWords) {
  auto household = Open("echo 'assayd: the disk is full' >&2; exit 4");
  ASSERT_TRUE(household.ok());

  absl::Status status = household->StartCoordinator();

  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  std::string text = Render(Language::kEnglish, status);
  EXPECT_THAT(text, HasSubstr("coordinator has ended (exit 4): assayd: the disk is full"));
  EXPECT_THAT(text, HasSubstr(household->logs() + "/coordinator.log"));
}

TEST_F(HouseholdTest, OneThatDiesLaterIsNoticed) {
  auto household = Open("echo $$ > $3/pid; echo 'listening on 127.0.0.1:1'; exec sleep 1000");
  ASSERT_TRUE(household.ok());
  ASSERT_TRUE(household->StartCoordinator().ok());
  pid_t pid = 0;
  std::ifstream(household->coordinator_directory() + "/pid") >> pid;
  ASSERT_GT(pid, 0);
  ASSERT_EQ(kill(pid, SIGKILL), 0);

  absl::Status status;
  for (absl::Time end = absl::Now() + absl::Seconds(60); status.ok() && absl::Now() < end;) {
    status = household->Check();
  }
  EXPECT_THAT(Render(Language::kEnglish, status), HasSubstr("(signal 9)"));
}

TEST_F(HouseholdTest, WaitingEndsWhenItIsToldTo) {
  auto household = Open("exec sleep 1000");
  ASSERT_TRUE(household.ok());
  keep_on_ = absl::CancelledError("interrupted");

  EXPECT_EQ(household->StartCoordinator().code(), absl::StatusCode::kCancelled);
}

TEST_F(HouseholdTest, ADirectoryHasOneHouseholdAtATime) {
  auto first = Open("exec sleep 1000");
  ASSERT_TRUE(first.ok());

  EXPECT_EQ(Open("exec sleep 1000").status().code(), absl::StatusCode::kUnavailable);
}

TEST(LastLineTest, IsTheLastThatSaysSomething) {
  EXPECT_EQ(LastLine("first\n  second  \n\n \n"), "second");
  EXPECT_EQ(LastLine(""), "");
}

TEST(MemberTest, AServerAndAVantageOfOneNameAreTwo) {
  EXPECT_EQ((Member{v1::SUBJECT_KIND_SERVER, "x"}.Label()), "server-x");
  EXPECT_EQ((Member{v1::SUBJECT_KIND_VANTAGE, "x"}.Label()), "vantage-x");
}

TEST(InterruptTest, IsSeenOnceItCameAndStaysSeen) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.Requested());
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(interrupt.Requested());
  EXPECT_TRUE(interrupt.Requested());
}

TEST(ShellWordTest, IsReadBackByTheShellAsItWas) {
  for (const char* word : {"plain/path-1.yaml", "two words", "it's", "$HOME `id` \"q\" \\", "*"}) {
    subprocess::Options options;
    options.argv = {"/bin/sh", "-c", absl::StrCat("printf '%s\\n' ", ShellWord(word))};
    options.standard_output = subprocess::Sink::Pipe();
    auto process = subprocess::Process::Start(options);
    ASSERT_TRUE(process.ok());
    EXPECT_EQ(process->ReadLine(absl::Seconds(60)).value(), word);
  }
  EXPECT_EQ(ShellWord("plain/path-1.yaml"), "plain/path-1.yaml");
}

TEST(NextStepsTest, CommandsCanBeCopied) {
  NextSteps steps;
  steps.database = "/d/coordinator/assay.db";
  steps.context = "/d/coordinator/admin";
  steps.logs = "/d/logs";
  steps.coordinator_directory = "/d/coordinator";
  steps.assay = "assay";
  steps.assayd = "assayd";
  steps.server = "hk";
  steps.run = "run-1";

  EXPECT_EQ(Render(steps, render::View()),
            "database  /d/coordinator/assay.db\n"
            "context   /d/coordinator/admin\n"
            "logs      /d/logs\n"
            "\n"
            "To look further:\n"
            "  # start the coordinator again, in the background\n"
            "  assayd serve --dir /d/coordinator &\n"
            "  # how each criterion was decided\n"
            "  assay --context /d/coordinator/admin verdict hk --run run-1 --explain\n"
            "  # the results behind it\n"
            "  assay --context /d/coordinator/admin result list --run run-1\n");
}

}  // namespace
}  // namespace assay::cli
