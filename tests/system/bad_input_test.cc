// What goes wrong outside: each case gets one clear line, the documented exit code, and nothing
// half done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/system/deployment.h"

namespace assay::system_test {
namespace {

using ::testing::HasSubstr;

constexpr int kUsage = 2;
constexpr int kNotAllowed = 4;

// Exit code, exactly one line on stderr, and what it must name.
void ExpectOneLine(const CommandResult& result, int exit_code, const std::string& names) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr(names));
}

class BadInputTest : public ::testing::Test {
 protected:
  void SetUp() override { deployment_.StartCoordinator(); }

  CommandResult Apply(const std::string& yaml) {
    std::string path = deployment_.folder() + "/bad.yaml";
    std::ofstream(path) << yaml;
    return deployment_.Assay({"apply", "-f", path});
  }
  Deployment deployment_;
};

TEST_F(BadInputTest, AWrongKeyIsNamedWithItsPlaceAndTheNearestOne) {
  CommandResult result = Apply("kind: server\nname: hk\naddreses: [192.0.2.1]\n");

  ExpectOneLine(result, kUsage, "bad.yaml:3:1: ");
  EXPECT_THAT(result.err, HasSubstr("addresses"));
  EXPECT_EQ(deployment_.Query("SELECT count(*) FROM documents"), "0");
}

TEST_F(BadInputTest, ABadUnitIsNamedWithItsPlace) {
  CommandResult result =
      Apply("kind: server\nname: hk\naddresses: [192.0.2.1]\nclaim: {gpu_memory: 80 parsecs}\n");

  ExpectOneLine(result, kUsage, "bad.yaml:4:");
  EXPECT_THAT(result.err, HasSubstr("80 parsecs"));
}

TEST_F(BadInputTest, APlanThatNamesAnUnknownServerIsRefusedWhole) {
  CommandResult result = Apply(R"(
kind: vantage
name: sz
vantage_kind: office
---
kind: plan
name: p
servers: [nobody]
vantages: [sz]
windows: [{name: w, role: peak, relative: {length: 5s}}]
probes: [{name: echo, icmp: {}}]
criteria: [{id: loss, metric: icmp.loss_ratio, threshold: 1%}]
)");

  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("nobody"));
  EXPECT_EQ(deployment_.Query("SELECT count(*) FROM documents"), "0");
}

TEST_F(BadInputTest, AVerdictOnAnUnknownServerSaysSo) {
  ExpectOneLine(deployment_.Assay({"verdict", "hk-gpu-99"}), kNotAllowed, "hk-gpu-99");
}

TEST_F(BadInputTest, AUsedTokenIsRefusedAndLeavesNothing) {
  std::string token = deployment_.CreateToken({"--vantage", "sz"})["token"];
  ASSERT_EQ(deployment_.TryJoin(deployment_.state_of("first"), token).exit_code, 0);

  CommandResult second = deployment_.TryJoin(deployment_.state_of("second"), token);

  ExpectOneLine(second, kNotAllowed, "used");
  EXPECT_FALSE(std::filesystem::exists(deployment_.state_of("second") + "/identity.pem"));
}

TEST_F(BadInputTest, AnExpiredTokenIsRefused) {
  std::string token = deployment_.CreateToken({"--vantage", "sz", "--valid", "1s"})["token"];
  absl::SleepFor(absl::Milliseconds(1100));

  ExpectOneLine(deployment_.TryJoin(deployment_.state_of("late"), token), kNotAllowed, "expired");
}

TEST_F(BadInputTest, ATokenIsNotShownInErrorsOrLogs) {
  std::string token = deployment_.CreateToken({"--vantage", "sz"})["token"];
  deployment_.TryJoin(deployment_.state_of("first"), token);
  CommandResult second = deployment_.TryJoin(deployment_.state_of("second"), token);

  EXPECT_EQ(second.err.find(token), std::string::npos);
  EXPECT_EQ(deployment_.Log("coordinator").find(token), std::string::npos);
}

TEST_F(BadInputTest, AnotherCoordinatorIsNotTrusted) {
  Deployment other;
  other.StartCoordinator();
  // The context of one with the address of the other.
  TemporaryFolder context;
  std::filesystem::copy(deployment_.admin_context() + "/identity.pem",
                        context.path() + "/identity.pem");
  std::ofstream(context.path() + "/coordinator") << other.address() << "\n";

  CommandResult result =
      RunCommand({Program("assay"), "--context", context.path(), "--lang", "en", "agent", "list"});

  ExpectOneLine(result, kNotAllowed, "another coordinator");
}

TEST_F(BadInputTest, ARevokedAgentIsPutOutAtOnceAndSaysWhy) {
  deployment_.Join("vantage", "sz");
  deployment_.StartAgent("sz");
  deployment_.WaitUntilConnected({"sz"});

  EXPECT_EQ(deployment_.Assay({"revoke", "--vantage", "sz", "--reason", "laptop lost"}).exit_code,
            0);
  std::optional<subprocess::ExitStatus> status = deployment_.WaitForAgent("sz", absl::Seconds(30));

  ASSERT_TRUE(status.has_value()) << "the agent still runs";
  EXPECT_EQ(status->code, kNotAllowed);
  EXPECT_THAT(deployment_.Log("sz"), HasSubstr("laptop lost"));
}

TEST_F(BadInputTest, AViewerMayLookAndNotChange) {
  std::string token = deployment_.CreateToken({"--person", "wang", "--role", "viewer"})["token"];
  nlohmann::json any = deployment_.CreateToken({"--vantage", "x"});
  std::string context = deployment_.folder() + "/wang";
  ASSERT_EQ(RunCommand({Program("assay"), "--context", context, "join", deployment_.address(),
                        "--ca-fingerprint", any["ca_fingerprint"]},
                       {{"ASSAY_JOIN_TOKEN", token}})
                .exit_code,
            0);

  EXPECT_EQ(RunCommand({Program("assay"), "--context", context, "run", "list"}).exit_code, 0);
  ExpectOneLine(RunCommand({Program("assay"), "--context", context, "--lang", "en", "token",
                            "create", "--vantage", "y"}),
                kNotAllowed, "operator");
}

TEST_F(BadInputTest, ACoordinatorThatIsNotThereIsNamed) {
  deployment_.StopCoordinator();

  ExpectOneLine(deployment_.Assay({"agent", "list"}), kNotAllowed, deployment_.address());
}

TEST_F(BadInputTest, APortInUseIsNamed) {
  Deployment other;
  CommandResult result = RunCommand({Program("assayd"), "serve", "--dir",
                                     other.coordinator_folder(), "--listen", deployment_.address()},
                                    {{"ASSAY_LANG", "en"}});

  EXPECT_EQ(result.exit_code, kNotAllowed);
  EXPECT_THAT(result.err, HasSubstr(deployment_.address()));
  EXPECT_THAT(result.err, HasSubstr("in use"));
}

TEST_F(BadInputTest, ASecondCoordinatorOnTheSameDatabaseIsRefused) {
  ExpectOneLine(RunCommand({Program("assayd"), "serve", "--dir", deployment_.coordinator_folder(),
                            "--listen", "127.0.0.1:0"}),
                kNotAllowed, "assay.db");
}

// The database of a stopped coordinator, spoilt in one way each.
class BadDatabaseTest : public ::testing::Test {
 protected:
  CommandResult Serve() {
    return RunCommand({Program("assayd"), "serve", "--dir", deployment_.coordinator_folder()},
                      {{"ASSAY_LANG", "en"}}, absl::Seconds(20));
  }
  std::string database() const { return deployment_.coordinator_folder() + "/assay.db"; }
  void Execute(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
  Deployment deployment_;
};

TEST_F(BadDatabaseTest, ANewerSchemaIsRefused) {
  Execute("PRAGMA user_version = 9999");
  ExpectOneLine(Serve(), kNotAllowed, "newer");
}

TEST_F(BadDatabaseTest, GarbageIsRefused) {
  std::filesystem::remove(database() + "-wal");
  std::ofstream(database()) << std::string(8192, 'x');
  ExpectOneLine(Serve(), kNotAllowed, "assay.db");
}

TEST_F(BadDatabaseTest, AMissingDatabaseIsNotMadeAnew) {
  std::filesystem::remove(database());
  ExpectOneLine(Serve(), kNotAllowed, "assay.db");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(BadDatabaseTest, AReadOnlyFileSystemIsNamed) {
  TemporaryFolder mount;
  ASSERT_EQ(RunCommand({"mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", mount.path()}).exit_code,
            0);
  std::string folder = mount.path() + "/coordinator";
  std::filesystem::copy(deployment_.coordinator_folder(), folder,
                        std::filesystem::copy_options::recursive);
  ASSERT_EQ(RunCommand({"mount", "-o", "remount,ro", mount.path()}).exit_code, 0);

  CommandResult result = RunCommand({Program("assayd"), "serve", "--dir", folder},
                                    {{"ASSAY_LANG", "en"}}, absl::Seconds(20));

  RunCommand({"umount", mount.path()});
  ExpectOneLine(result, kNotAllowed, "Read-only");
}

TEST(ClockTest, AnAgentWhoseClockIsAnHourOffIsMeasuredRecordedAndWarnedOf) {
  Deployment deployment(Deployment::Options{"127.0.0.1", "", {"--heartbeat", "1s"}});
  deployment.StartCoordinator();
  deployment.Join("vantage", "sz");
  std::string library = RunCommand({"sh", "-c", "ls /usr/lib/*/faketime/libfaketimeMT.so.1"}).out;
  library.erase(library.find_last_not_of('\n') + 1);
  deployment.StartAgent("sz", {{"LD_PRELOAD", library},
                               {"FAKETIME", "+1h"},
                               {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
                               {"DONT_FAKE_MONOTONIC", "1"}});
  deployment.WaitUntilConnected({"sz"});
  int port = FreePort();
  deployment.Apply(absl::StrCat(R"(
kind: server
name: hk
addresses: ["127.0.0.1"]
---
kind: vantage
name: sz
vantage_kind: office
---
kind: plan
name: p
servers: [hk]
vantages: [sz]
windows: [{name: w, role: peak, relative: {after: 4s, length: 5s}}]
probes: [{name: port, tcp: {port: )",
                                port, R"(, count: 3, interval: 10ms}}]
criteria: [{id: refused, metric: tcp.failure_ratio, threshold: 1%}]
)"));
  std::string run = deployment.StartRun("p");
  deployment.WaitForRun(run, absl::Seconds(60));

  CommandResult list = deployment.Assay({"agent", "list"});
  EXPECT_THAT(list.out + list.err, HasSubstr("clock"));
  EXPECT_THAT(deployment.Log("coordinator"), HasSubstr("is off by"));
  // The result is placed by the coordinator's clock, with the offset kept beside it.
  std::string id = deployment.Query("SELECT max(id) FROM results");
  nlohmann::json result = deployment.Assay({"result", "show", id, "--output", "json"}).Json();
  EXPECT_THAT(result.dump(), HasSubstr("offset"));
  nlohmann::json verdict = deployment.Assay({"verdict", "hk", "--output", "json"}).Json();
  EXPECT_EQ(verdict["criteria"][0]["samples"], 3);
}

}  // namespace
}  // namespace assay::system_test
