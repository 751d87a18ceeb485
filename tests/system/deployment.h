// A real deployment for tests: assayd, agents and the command line as processes, in a folder of its
// own, where wanted in network namespaces of its own. Everything is stopped and removed at the end.
#ifndef ASSAY_TESTS_SYSTEM_DEPLOYMENT_H_
#define ASSAY_TESTS_SYSTEM_DEPLOYMENT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/subprocess/process.h"
#include "nlohmann/json.hpp"

namespace assay::system_test {

struct CommandResult {
  int exit_code = -1;  // 128 + signal where it was killed
  std::string out;
  std::string err;
  nlohmann::json Json() const { return nlohmann::json::parse(out); }
};

// Runs to the end, at most `timeout`.
CommandResult RunCommand(const std::vector<std::string>& argv,
                         const std::vector<std::pair<std::string, std::string>>& environment = {},
                         absl::Duration timeout = absl::Seconds(120));

// A folder below the system's temporary one, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A port of 127.0.0.1 that nothing listens on right now.
int FreePort();

// Two network namespaces joined by a cable: `near` is 10.77.0.1, `far` 10.77.0.2.
class TwoNamespaces {
 public:
  TwoNamespaces();
  ~TwoNamespaces();
  const std::string& near_name() const { return near_; }
  const std::string& far_name() const { return far_; }

 private:
  std::string near_, far_;
};

std::string Program(const std::string& name);  // build/<preset>/bin/name
// `argv` inside a namespace ("" for none).
std::vector<std::string> Inside(const std::string& name_space, std::vector<std::string> argv);

// A coordinator with its agents and its first admin.
class Deployment {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    std::string name_space;
    std::vector<std::string> serve_arguments;
  };
  explicit Deployment(Options options);
  Deployment() : Deployment(Options()) {}
  ~Deployment();

  // Returns when it listens.
  void StartCoordinator();
  void KillCoordinator();                    // kill -9
  subprocess::ExitStatus StopCoordinator();  // SIGTERM

  // Enrols an agent with a fresh token. `kind` is "server" or "vantage".
  void Join(const std::string& kind, const std::string& name, const std::string& name_space = "");
  CommandResult TryJoin(const std::string& state, const std::string& token,
                        const std::string& name_space = "");
  nlohmann::json CreateToken(const std::vector<std::string>& arguments);
  void StartAgent(const std::string& name,
                  const std::vector<std::pair<std::string, std::string>>& environment = {});
  void KillAgent(const std::string& name);
  // nullopt: still running after the time.
  std::optional<subprocess::ExitStatus> WaitForAgent(const std::string& name,
                                                     absl::Duration timeout);
  // Until every named agent is connected.
  void WaitUntilConnected(const std::vector<std::string>& names);

  // The command line as the first admin.
  CommandResult Assay(std::vector<std::string> arguments,
                      absl::Duration timeout = absl::Seconds(120));
  void Apply(const std::string& yaml);
  std::string StartRun(const std::string& plan);
  // Until the run is no longer active; its state.
  std::string WaitForRun(const std::string& run, absl::Duration timeout);

  // First column of the first row, from the coordinator's database.
  std::string Query(const std::string& sql);

  const std::string& folder() const { return folder_.path(); }
  std::string coordinator_folder() const { return folder_.path() + "/coordinator"; }
  std::string admin_context() const { return coordinator_folder() + "/admin"; }
  std::string state_of(const std::string& agent) const { return folder_.path() + "/" + agent; }
  std::string address() const;
  // The log of "coordinator" or of an agent.
  std::string Log(const std::string& name) const;

 private:
  struct Agent {
    std::string name_space;
    std::optional<subprocess::Process> process;
  };

  const Options options_;
  TemporaryFolder folder_;
  int port_;
  std::optional<subprocess::Process> coordinator_;
  std::map<std::string, Agent> agents_;
};

}  // namespace assay::system_test

#endif  // ASSAY_TESTS_SYSTEM_DEPLOYMENT_H_
