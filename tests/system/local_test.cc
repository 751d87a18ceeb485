// `assay local` as the quick start runs it, from a clean folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/system/deployment.h"

namespace assay::system_test {
namespace {

using ::testing::HasSubstr;

// A port that something listens on for as long as this lives.
class Listener {
 public:
  Listener() : port_(FreePort()) {
    subprocess::Options options;
    options.argv = {"/usr/bin/python3",    "-m",          "http.server", "--bind", "127.0.0.1",
                    std::to_string(port_), "--directory", folder_.path()};
    options.standard_output = subprocess::Sink::Discard();
    options.standard_error = subprocess::Sink::Discard();
    process_ = *subprocess::Process::Start(options);
  }
  int port() const { return port_; }

 private:
  TemporaryFolder folder_;
  int port_;
  std::optional<subprocess::Process> process_;
};

TEST(LocalTest, APlanOnThisMachineEndsInAVerdictAndSaysWhatToDoNext) {
  Listener web;
  TemporaryFolder folder;
  std::string plan = folder.path() + "/plan.yaml";
  std::ofstream(plan) << absl::StrCat(R"(
kind: server
name: hk-gpu-01
addresses: ["127.0.0.1"]
---
kind: vantage
name: sz-office
vantage_kind: office
---
kind: plan
name: trial
servers: [hk-gpu-01]
vantages: [sz-office]
windows:
  - {name: peak, role: peak, relative: {after: 1s, length: 6s}}
  - {name: off-peak, role: off_peak, relative: {after: 8s, length: 6s}}
probes:
  - {name: echo, icmp: {count: 60, interval: 10ms}, repetitions: 5}
  - {name: web, http: {port: )",
                                      web.port(), R"(, count: 4, interval: 50ms}, repetitions: 5}
criteria:
  - {id: loss, metric: icmp.loss_ratio, threshold: 5%}
  - {id: web-fails, metric: http.failure_ratio, threshold: 60%}
)");

  CommandResult result = RunCommand(
      {Program("assay"), "local", "-f", plan, "--dir", folder.path() + "/local", "--lang", "en"});

  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  for (const char* expected :
       {"hk-gpu-01", "loss", "web-fails", "accepted", "assay.db", "--context"}) {
    EXPECT_THAT(result.out, HasSubstr(expected));
  }
  // Nothing runs on, and the coordinator can be started again as the output says.
  EXPECT_EQ(RunCommand({"pgrep", "-f", folder.path() + "/local"}).out, "");
}

}  // namespace
}  // namespace assay::system_test
