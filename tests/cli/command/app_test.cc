#include "cli/command/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "nlohmann/json.hpp"
#include "tests/cli/command/fake_coordinator.h"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

// ---- the line

TEST(UsageTest, BadLinesGetOneClearLineAndExitCodeTwo) {
  struct Case {
    Arguments arguments;
    const char* err;
  };
  const Case cases[] = {
      {{}, "assay: a command is missing; see assay --help\n"},
      {{"run"}, "assay: a command is missing; see assay run --help\n"},
      {{"bogus"}, "assay: \"bogus\" is not expected here; see assay --help\n"},
      {{"run", "show"}, "assay: RUN is missing; see assay run show --help\n"},
      {{"run", "list", "--limit", "ten"},
       "assay: --limit needs a number, not \"ten\"; see assay run list --help\n"},
      {{"whoami", "--colour"},
       "assay: \"--colour\" is not expected here; see assay whoami --help\n"},
      {{"whoami", "--output", "xml"},
       "assay: unknown output format \"xml\"; write --output table, --output json or --output "
       "csv\n"},
      {{"whoami", "--lang", "fr"},
       "assay: unknown language \"fr\"; write --lang zh or --lang en\n"},
      {{"token", "create", "--server", "a", "--vantage", "b"},
       "assay: give exactly one of: --server, --vantage, --person\n"},
      {{"token", "create"}, "assay: give exactly one of: --server, --vantage, --person\n"},
      {{"token", "create", "--person", "wang"},
       "assay: a person needs a role: add --role viewer, operator or admin\n"},
      {{"token", "create", "--server", "a", "--role", "admin"},
       "assay: --role is for people only; leave it out for an agent's token\n"},
      {{"token", "create", "--person", "wang", "--role", "root"},
       "assay: unknown role \"root\"; write viewer, operator or admin\n"},
      {{"join", "h:1", "--ca-fingerprint", "sha256:0"},
       "assay: no join token: give it with --token or --token-file, or in the environment "
       "variable ASSAY_JOIN_TOKEN\n"},
      {{"verdict", "--lang", "zh"}, "assay: 缺少 SERVER；请参阅 assay verdict --help\n"},
      {{"run", "show", "--lang=zh"}, "assay: 缺少 RUN；请参阅 assay run show --help\n"},
  };
  FakeCoordinator fake;
  for (const Case& c : cases) {
    Outcome outcome = RunAssay(fake, c.arguments);
    EXPECT_EQ(outcome.code, 2) << c.err;
    EXPECT_EQ(outcome.err, c.err);
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(UsageTest, HelpIsInTheReadersLanguageAndNamesEveryCommand) {
  FakeCoordinator fake;
  Outcome english = RunAssay(fake, {"--help"});
  Outcome chinese = RunAssay(fake, {"--help", "--lang", "zh"});

  EXPECT_EQ(english.code, 0);
  EXPECT_THAT(english.out, HasSubstr("Is a server accepted, and why"));
  EXPECT_THAT(chinese.out, HasSubstr("退出码"));
  for (const char* command : {"join", "whoami", "token", "agent", "revoke", "apply", "plan", "run",
                              "result", "verdict", "local"}) {
    EXPECT_THAT(chinese.out, HasSubstr(absl::StrCat("\n  ", command, " ")));
  }
}

// An id without a sentence is shown as itself.
TEST(UsageTest, NoHelpTextIsMissing) {
  FakeCoordinator fake;
  const Arguments commands[] = {{},
                                {"join"},
                                {"whoami"},
                                {"token"},
                                {"token", "create"},
                                {"agent"},
                                {"agent", "list"},
                                {"revoke"},
                                {"apply"},
                                {"plan"},
                                {"plan", "preview"},
                                {"run"},
                                {"run", "start"},
                                {"run", "watch"},
                                {"run", "list"},
                                {"run", "show"},
                                {"run", "cancel"},
                                {"result"},
                                {"result", "list"},
                                {"result", "show"},
                                {"verdict"},
                                {"local"}};
  for (Arguments arguments : commands) {
    arguments.push_back("--help");
    Outcome outcome = RunAssay(fake, arguments);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out.find("cli."), std::string::npos) << outcome.out;
  }
}

// ---- errors of the coordinator

TEST(ErrorTest, TheCoordinatorsSentenceIsShownInTheReadersLanguage) {
  FakeCoordinator fake;
  fake.failure = Error(absl::StatusCode::kPermissionDenied, "identity.role_too_low",
                       {{"person", "wang"}, {"role", "viewer"}, {"needed", "operator"}});

  Outcome chinese = RunAssay(fake, {"token", "create", "--server", "x", "--lang", "zh"});
  Outcome english = RunAssay(fake, {"token", "create", "--server", "x"});

  EXPECT_EQ(chinese.code, 4);
  EXPECT_EQ(chinese.err,
            "assay: wang 的角色是 viewer，而此操作需要 operator；请向管理员申请具有该角色的证书\n");
  EXPECT_THAT(english.err, StartsWith("assay: wang has the role viewer"));
}

TEST(ErrorTest, AnErrorWithLineBreaksStaysOnOneLine) {
  FakeCoordinator fake;
  fake.failure = absl::InternalError("first\nsecond");

  EXPECT_EQ(RunAssay(fake, {"run", "list"}).err, "assay: first second\n");
}

TEST(ErrorTest, ExitCodesFollowTheKind) {
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 2);
  for (absl::Status status :
       {absl::UnavailableError(""), absl::PermissionDeniedError(""), absl::NotFoundError(""),
        absl::UnauthenticatedError(""), absl::InternalError("")}) {
    EXPECT_EQ(ExitCodeOf(status), 4);
  }
}

TEST(ErrorTest, WithoutAContextItSaysHowToGetOne) {
  absl::StatusOr<Context> context = LoadContext(testing::TempDir() + "/no-such-context");

  EXPECT_EQ(context.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Render(Language::kEnglish, context.status()), HasSubstr("join command"));
}

// ---- documents

class FileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    path_ = absl::StrCat(testing::TempDir(), "/cli_app_test.", getpid(), ".yaml");
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { std::remove(path_.c_str()); }
  FakeCoordinator fake_;
  std::string path_;
};

constexpr char kDocuments[] = R"(kind: server
name: hk
addresses: ["192.0.2.1"]
---
kind: vantage
name: sz
vantage_kind: office
---
kind: plan
name: trial
servers: [hk]
vantages: [sz]
windows:
  - {name: peak, role: peak, relative: {after: 1m, length: 10m}}
probes:
  - {name: echo, icmp: {count: 10}, repetitions: 3}
criteria:
  - {id: loss, metric: icmp.loss_ratio, threshold: 5%}
)";

TEST_F(FileTest, ApplySendsAllDocumentsInOrder) {
  fake_.apply_response.add_documents()->set_kind("server");

  Outcome outcome = RunAssay(fake_, {"apply", "-f", Write(kDocuments), "--dry-run"});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(fake_.applied.documents_size(), 3);
  EXPECT_TRUE(fake_.applied.dry_run());
  EXPECT_EQ(fake_.applied.documents(0).server().name(), "hk");
  EXPECT_EQ(fake_.applied.documents(2).plan().name(), "trial");
}

TEST_F(FileTest, ABadDocumentIsNamedByPlaceAndNothingIsSent) {
  std::string path = Write("kind: server\nname: hk\naddreses: [192.0.2.1]\n");

  Outcome outcome = RunAssay(fake_, {"apply", "-f", path});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, StartsWith(absl::StrCat("assay: ", path, ":3:1: ")));
  EXPECT_EQ(fake_.applied.documents_size(), 0);
}

TEST_F(FileTest, AMissingFileIsAUsageError) {
  EXPECT_EQ(RunAssay(fake_, {"apply", "-f", "/no/such/file.yaml"}).code, 2);
}

TEST_F(FileTest, PreviewNeedsNoCoordinatorWhereTheFileHasEverything) {
  fake_.failure = absl::InternalError("must not be asked");

  Outcome outcome = RunAssay(fake_, {"plan", "preview", "-f", Write(kDocuments), "--start",
                                     "2026-12-04T18:00", "--output", "json"});

  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["tasks"].size(), 3u);
  EXPECT_EQ(json["end"], "2026-12-04T18:11:00Z");
  for (const auto& task : json["tasks"]) {
    EXPECT_GE(task["due"].get<std::string>(), "2026-12-04T18:01:00");
    EXPECT_LT(task["due"].get<std::string>(), "2026-12-04T18:11:00");
  }
}

TEST_F(FileTest, PreviewOfAWrongTimeOrPlanSaysSo) {
  std::string path = Write(kDocuments);
  EXPECT_THAT(RunAssay(fake_, {"plan", "preview", "-f", path, "--start", "friday"}).err,
              HasSubstr("\"friday\" is not a time"));
  EXPECT_THAT(RunAssay(fake_, {"plan", "preview", "-f", path, "--plan", "other"}).err,
              HasSubstr("no plan \"other\""));
}

// ---- commands

TEST(CommandTest, TokensCarrySubjectRoleAndValidity) {
  FakeCoordinator fake;

  Outcome outcome =
      RunAssay(fake, {"token", "create", "--person", "wang", "--role", "viewer", "--valid", "2h"});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(fake.token_request.subject_kind(), v1::SUBJECT_KIND_PERSON);
  EXPECT_EQ(fake.token_request.subject(), "wang");
  EXPECT_EQ(fake.token_request.role(), v1::ROLE_VIEWER);
  EXPECT_EQ(fake.token_request.validity().seconds(), 7200);
}

TEST(CommandTest, ListsComeInEveryFormat) {
  FakeCoordinator fake;
  v1::Run* run = fake.runs.add_runs();
  run->set_id("run-1");
  run->set_state(v1::RUN_STATE_FINISHED);

  EXPECT_THAT(RunAssay(fake, {"run", "list"}).out, HasSubstr("finished"));
  EXPECT_THAT(RunAssay(fake, {"run", "list", "--lang", "zh"}).out, HasSubstr("已结束"));
  EXPECT_THAT(RunAssay(fake, {"run", "list", "--output", "csv", "--lang", "zh"}).out,
              StartsWith("run,plan,run_state,"));
  EXPECT_EQ(nlohmann::json::parse(
                RunAssay(fake, {"--output", "json", "run", "list"}).out)["runs"][0]["state"],
            "finished");
}

TEST(CommandTest, TheVerdictIsTheExitCode) {
  const std::pair<v1::ServerDecision, int> cases[] = {{v1::SERVER_DECISION_ACCEPTED, 0},
                                                      {v1::SERVER_DECISION_REJECTED, 1},
                                                      {v1::SERVER_DECISION_INCONCLUSIVE, 3}};
  FakeCoordinator fake;
  fake.verdict.set_server("hk");
  for (const auto& [decision, code] : cases) {
    fake.verdict.set_decision(decision);
    EXPECT_EQ(RunAssay(fake, {"verdict", "hk"}).code, code);
  }
}

// ---- watching

v1::Task EndedTaskOf(uint32_t index, int64_t result) {
  v1::Task task;
  task.set_index(index);
  task.set_server("hk");
  task.set_vantage("sz");
  task.set_probe("echo");
  task.set_window("peak");
  task.set_state(v1::TASK_STATE_DONE);
  task.set_result_id(result);
  return task;
}

class WatchTest : public ::testing::Test {
 protected:
  WatchTest() {
    fake_.run.mutable_run()->set_id("run-1");
    fake_.run.mutable_run()->set_state(v1::RUN_STATE_ACTIVE);
  }
  v1::RunProgress Message(v1::RunState state, const std::vector<v1::Task>& ended) {
    v1::RunProgress progress;
    *progress.mutable_run() = fake_.run.run();
    progress.mutable_run()->set_state(state);
    for (const v1::Task& task : ended) *progress.add_ended() = task;
    return progress;
  }
  static size_t Lines(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  FakeCoordinator fake_;
};

TEST_F(WatchTest, APipeGetsOneLineAnEndedTaskThenTheState) {
  fake_.watches.push_back({{Message(v1::RUN_STATE_ACTIVE, {EndedTaskOf(0, 7)}),
                            Message(v1::RUN_STATE_FINISHED, {EndedTaskOf(1, 8)})},
                           absl::OkStatus()});

  Outcome outcome = RunAssay(fake_, {"run", "watch", "run-1"});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Lines(outcome.out), 3u) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("done  echo  sz → hk  peak  loss_ratio 0 %"));
  EXPECT_THAT(outcome.out, HasSubstr("run-1 finished"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(WatchTest, ALostConnectionIsMadeAgainAndNothingIsToldTwice) {
  fake_.watches.push_back(
      {{Message(v1::RUN_STATE_ACTIVE, {EndedTaskOf(0, 7)})}, absl::UnavailableError("restarting")});
  fake_.watches.push_back(
      {{Message(v1::RUN_STATE_FINISHED, {EndedTaskOf(0, 7), EndedTaskOf(1, 8)})},
       absl::OkStatus()});

  Outcome outcome = RunAssay(fake_, {"run", "watch", "run-1"});

  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(fake_.watched, 2);
  EXPECT_EQ(fake_.results_asked, 2);
  EXPECT_EQ(Lines(outcome.out), 3u) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("connection lost"));
}

TEST_F(WatchTest, ARunThatIsOverIsToldWithoutAStream) {
  fake_.run.mutable_run()->set_state(v1::RUN_STATE_CANCELLED);
  *fake_.run.add_tasks() = EndedTaskOf(0, 0);

  Outcome outcome = RunAssay(fake_, {"run", "watch", "run-1"});

  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(fake_.watched, 0);
  EXPECT_EQ(Lines(outcome.out), 2u);
}

TEST_F(WatchTest, JsonIsOneObjectALine) {
  fake_.watches.push_back(
      {{Message(v1::RUN_STATE_FINISHED, {EndedTaskOf(0, 7)})}, absl::OkStatus()});

  Outcome outcome = RunAssay(fake_, {"run", "watch", "run-1", "--output", "json"});

  std::istringstream lines(outcome.out);
  std::string task, run, more;
  ASSERT_TRUE(std::getline(lines, task) && std::getline(lines, run));
  EXPECT_FALSE(std::getline(lines, more));
  EXPECT_EQ(nlohmann::json::parse(task)["result_id"], 7);
  EXPECT_EQ(nlohmann::json::parse(run)["state"], "finished");
}

TEST_F(WatchTest, AnUnknownRunIsNotWaitedFor) {
  fake_.failure = Error(absl::StatusCode::kNotFound, "server.unknown_run", {{"run", "run-9"}});

  Outcome outcome = RunAssay(fake_, {"run", "watch", "run-9"});

  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("no run run-9"));
}

}  // namespace
}  // namespace assay::cli
