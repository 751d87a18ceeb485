// Coordinator and agents are killed with signal 9 at random moments of a run, again and again: the
// run completes, and every result is stored once.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/system/deployment.h"

namespace assay::system_test {
namespace {

std::string Plan(int port) {
  return absl::StrCat(R"(
kind: server
name: hk
addresses: ["127.0.0.1"]
---
kind: vantage
name: v1
vantage_kind: office
---
kind: vantage
name: v2
vantage_kind: carrier
---
kind: plan
name: storm
servers: [hk]
vantages: [v1, v2]
windows:
  - {name: peak, role: peak, relative: {after: 0s, length: 40s}}
probes:
  - {name: echo, icmp: {count: 20, interval: 10ms, timeout: 200ms}, repetitions: 60}
  - {name: port, tcp: {port: )",
                      port, R"(, count: 5, interval: 20ms, timeout: 500ms}, repetitions: 60}
criteria:
  - {id: loss, metric: icmp.loss_ratio, threshold: 5%}
)");
}

TEST(ExactlyOnceTest, KillsAtRandomMomentsLoseNothingAndStoreNothingTwice) {
  unsigned seed = std::random_device()();
  RecordProperty("seed", std::to_string(seed));
  std::mt19937 random(seed);
  Deployment deployment;
  deployment.StartCoordinator();
  const std::vector<std::string> agents = {"v1", "v2"};
  for (const std::string& agent : agents) {
    deployment.Join("vantage", agent);
    deployment.StartAgent(agent);
  }
  deployment.WaitUntilConnected(agents);
  // The coordinator's own port is a service that really listens, when it is not being killed.
  int port = 0;
  ASSERT_TRUE(
      absl::SimpleAtoi(deployment.address().substr(deployment.address().find(':') + 1), &port));
  deployment.Apply(Plan(port));
  std::string run = deployment.StartRun("storm");

  // The last kill is well before the window's end, so that nothing needs to be missed.
  absl::Time end = absl::Now() + absl::Seconds(25);
  int kills = 0;
  while (absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(100 + random() % 1200));
    switch (random() % 3) {
      case 0:
        deployment.KillCoordinator();
        absl::SleepFor(absl::Milliseconds(random() % 300));
        deployment.StartCoordinator();
        break;
      default: {
        const std::string& agent = agents[random() % agents.size()];
        deployment.KillAgent(agent);
        absl::SleepFor(absl::Milliseconds(random() % 300));
        deployment.StartAgent(agent);
      }
    }
    ++kills;
  }
  deployment.WaitForRun(run, absl::Seconds(180));

  SCOPED_TRACE(absl::StrCat("seed ", seed, ", kills ", kills));
  EXPECT_GE(kills, 5);
  // The run is the only one. TaskState 3 is DONE.
  EXPECT_EQ(deployment.Query("SELECT count(*) FROM tasks"), "240");
  EXPECT_EQ(deployment.Query("SELECT count(*) FROM tasks WHERE state = 3"), "240")
      << "states: " << deployment.Query("SELECT group_concat(DISTINCT state) FROM tasks");
  EXPECT_EQ(deployment.Query("SELECT count(*) FROM results"), "240");
  EXPECT_EQ(deployment.Query("SELECT count(DISTINCT task) FROM results"), "240");
  EXPECT_EQ(deployment.Query("PRAGMA integrity_check"), "ok");
  // Nothing is left in the spools.
  for (const std::string& agent : agents) {
    CommandResult left = RunCommand({"find", deployment.state_of(agent) + "/spool", "-type", "f"});
    EXPECT_EQ(left.out, "") << agent;
  }
  EXPECT_EQ(deployment.Assay({"run", "watch", run}).exit_code, 0);
}

}  // namespace
}  // namespace assay::system_test
