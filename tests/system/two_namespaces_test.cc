// A candidate in one network namespace, the coordinator and a vantage in another, real services and
// real loss: three plans get the three verdicts they deserve.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/system/deployment.h"

namespace assay::system_test {
namespace {

// `min_days` and the address are what the three plans differ in.
std::string PlanFor(const std::string& server, const std::string& address, int min_days) {
  return absl::StrCat(R"(
kind: server
name: )",
                      server, R"(
addresses: [")",
                      address, R"("]
---
kind: plan
name: check-)",
                      server, R"(
servers: [)",
                      server, R"(]
vantages: [sz-office]
windows:
  - {name: peak, role: peak, relative: {after: 0s, length: 9s}}
  - {name: night, role: off_peak, relative: {after: 10s, length: 9s}}
probes:
  - name: echo
    icmp: {count: 120, interval: 10ms, timeout: 500ms}
    repetitions: 5
  - name: port
    tcp: {port: 8080, count: 20, interval: 20ms, timeout: 500ms}
    repetitions: 5
  - name: page
    http: {port: 8080, path: /, count: 5, interval: 50ms}
    repetitions: 5
criteria:
  - {id: loss, metric: icmp.loss_ratio, threshold: 3%, min_days: )",
                      min_days, R"(}
  - {id: delay, metric: icmp.rtt_ms, statistic: p95, threshold: 300ms, min_days: )",
                      min_days, R"(}
  - {id: connects, metric: tcp.failure_ratio, threshold: 20%, min_days: )",
                      min_days, R"(}
  - {id: first-byte, metric: http.first_byte_ms, statistic: median, threshold: 1s, min_days: )",
                      min_days, R"(}
)");
}

class Nginx {
 public:
  explicit Nginx(const std::string& name_space) {
    std::string conf = folder_.path() + "/nginx.conf";
    std::ofstream(folder_.path() + "/index.html") << std::string(50000, 'x');
    std::string body;
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
      absl::StrAppend(&body, kind, "_temp_path ", folder_.path(), "/", kind, ";");
    }
    std::ofstream(conf) << "daemon off; pid " << folder_.path()
                        << "/pid; user root; events {} http {"
                        << "access_log off;" << body << "server { listen 8080; root "
                        << folder_.path() << "; } }";
    subprocess::Options options;
    options.argv = Inside(name_space, {"nginx", "-c", conf, "-e", folder_.path() + "/error.log"});
    process_ = *subprocess::Process::Start(options);
  }

 private:
  TemporaryFolder folder_;
  std::optional<subprocess::Process> process_;
};

class TwoNamespacesTest : public ::testing::Test {
 protected:
  TwoNamespacesTest() : deployment_({"10.77.0.1", cable_.near_name(), {}}) {}

  void SetUp() override {
    // A second address of the candidate loses every tenth echo request, and nothing else.
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"ip", "addr", "add", "10.77.0.3/32", "dev", "lo"},
             {"nft", "add", "table", "ip", "loss"},
             {"nft", "add", "chain", "ip", "loss", "in", "{ type filter hook input priority 0; }"},
             {"nft", "add", "rule", "ip", "loss", "in", "ip", "daddr", "10.77.0.3", "icmp", "type",
              "echo-request", "numgen", "inc", "mod", "10", "==", "0", "drop"}}) {
      CommandResult result = RunCommand(Inside(cable_.far_name(), command));
      ASSERT_EQ(result.exit_code, 0) << result.err;
    }
    ASSERT_EQ(RunCommand(
                  {"ip", "-n", cable_.near_name(), "route", "add", "10.77.0.3", "via", "10.77.0.2"})
                  .exit_code,
              0);
    web_.emplace(cable_.far_name());
    deployment_.StartCoordinator();
    deployment_.Join("vantage", "sz-office", cable_.near_name());
    deployment_.Join("server", "good", cable_.far_name());
    deployment_.StartAgent("sz-office");
    deployment_.StartAgent("good");
    deployment_.WaitUntilConnected({"sz-office", "good"});
  }

  TwoNamespaces cable_;
  std::optional<Nginx> web_;
  Deployment deployment_;
};

TEST_F(TwoNamespacesTest, ThreePlansGetTheThreeVerdictsTheyDeserve) {
  deployment_.Apply("kind: vantage\nname: sz-office\nvantage_kind: office\ncarrier: telecom\n");
  struct Case {
    const char* server;
    const char* address;
    int min_days;
    const char* decision;
    int exit_code;
  };
  const Case cases[] = {{"good", "10.77.0.2", 1, "accepted", 0},
                        {"lossy", "10.77.0.3", 1, "rejected", 1},
                        {"unsure", "10.77.0.2", 3, "inconclusive", 3}};
  std::vector<std::string> runs;
  for (const Case& c : cases) {
    deployment_.Apply(PlanFor(c.server, c.address, c.min_days));
    runs.push_back(deployment_.StartRun(absl::StrCat("check-", c.server)));
  }
  for (const std::string& run : runs) {
    EXPECT_EQ(deployment_.Assay({"run", "watch", run}).exit_code, 0);
  }

  for (const Case& c : cases) {
    CommandResult result = deployment_.Assay({"verdict", c.server, "--output", "json"});
    EXPECT_EQ(result.exit_code, c.exit_code) << c.server << "\n" << result.out << result.err;
    nlohmann::json verdict = result.Json();
    EXPECT_EQ(verdict["server"], c.server);
    EXPECT_EQ(verdict["decision"], c.decision) << verdict.dump(2);
    EXPECT_EQ(verdict["criteria"].size(), 4u);
    EXPECT_EQ(verdict["digest"].get<std::string>().size(), 64u);
  }
  // The truth: exactly every tenth request was dropped.
  nlohmann::json lossy = deployment_.Assay({"verdict", "lossy", "--output", "json"}).Json();
  EXPECT_EQ(lossy["criteria"][0]["decision"], "fail");
  EXPECT_NEAR(lossy["criteria"][0]["value"].get<double>(), 0.1, 0.01);
  // Losing echo requests says nothing of the business port.
  EXPECT_EQ(lossy["criteria"][2]["decision"], "pass");
  // Asked twice, the same bytes.
  EXPECT_EQ(deployment_.Assay({"verdict", "lossy", "--output", "json"}).Json()["digest"],
            lossy["digest"]);
  // In words, in both languages.
  for (const char* language : {"en", "zh"}) {
    CommandResult words = deployment_.Assay({"verdict", "lossy", "--explain", "--lang", language});
    EXPECT_NE(words.out.find("loss"), std::string::npos) << words.out;
    EXPECT_EQ(words.exit_code, 1);
  }
  EXPECT_EQ(
      deployment_.Query("SELECT count(*) - count(DISTINCT run_number || '/' || task) FROM results"),
      "0");
}

}  // namespace
}  // namespace assay::system_test
