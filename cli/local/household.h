// A coordinator and its agents as processes of this machine, in one directory:
//
//   coordinator/         what `assayd init` makes; admin/ in it is the context
//   agents/server-NAME/  state of one agent each, and agents/vantage-NAME/
//   logs/                what each of them wrote
//
// Everything is stopped when this is destroyed, and killed when this process is.
#ifndef ASSAY_CLI_LOCAL_HOUSEHOLD_H_
#define ASSAY_CLI_LOCAL_HOUSEHOLD_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "assay/v1/agent.pb.h"
#include "cli/coordinator/coordinator.h"
#include "common/files/files.h"
#include "common/subprocess/leash.h"
#include "common/subprocess/process.h"

namespace assay::cli {

struct Programs {
  std::string assay, assayd, agent;  // paths, or names found in $PATH
};

// The other two beside this program's own file, else in $PATH. NOT_FOUND.
absl::StatusOr<Programs> FindPrograms();

// Who an agent is for.
struct Member {
  v1::SubjectKind kind = v1::SUBJECT_KIND_SERVER;
  std::string name;
  std::string Label() const;  // "server-hk-gpu-01"
};

class Household {
 public:
  // Asked while waiting; its error ends the wait and is returned.
  using KeepOn = std::function<absl::Status()>;

  // Locks the directory (made where it is not there). Call before any thread exists.
  static absl::StatusOr<Household> Open(const std::string& directory, Programs programs,
                                        KeepOn keep_on);
  Household(Household&&) = default;
  ~Household() { Stop(); }

  std::string coordinator_directory() const { return directory_ + "/coordinator"; }
  std::string context_directory() const { return directory_ + "/coordinator/admin"; }
  std::string database() const { return directory_ + "/coordinator/assay.db"; }
  std::string logs() const { return directory_ + "/logs"; }
  std::string state_of(const Member& member) const {
    return directory_ + "/agents/" + member.Label();
  }
  const std::string& directory() const { return directory_; }
  const Programs& programs() const { return programs_; }

  // Creates the coordinator where there is none, and serves it on loopback.
  absl::Status StartCoordinator();
  // Joins where it has not yet, and runs the agent.
  absl::Status StartAgent(const Member& member, Coordinator& coordinator);
  // Until the coordinator lists all of them as connected.
  absl::Status AwaitAgents(const std::vector<Member>& members, Coordinator& coordinator);

  // UNAVAILABLE, with the end of its log, once a process that should run has ended.
  absl::Status Check();
  // Agents first, then the coordinator; gently, then not.
  void Stop();

 private:
  struct Child {
    std::string label;
    subprocess::Process process;
  };

  Household(std::string directory, Programs programs, KeepOn keep_on, files::DirectoryLock lock,
            subprocess::Leash leash);
  std::string LogOf(const std::string& label) const;
  absl::Status EndedError(const std::string& label, const subprocess::ExitStatus& status) const;
  // Runs a program to its end.
  absl::Status Complete(const std::string& label, const subprocess::Options& options);
  absl::Status Launch(const std::string& label, subprocess::Options options);

  std::string directory_;
  Programs programs_;
  KeepOn keep_on_;
  files::DirectoryLock lock_;
  subprocess::Leash leash_;
  std::vector<Child> children_;  // the coordinator first
};

// The last line of a log that says something; "" where there is none.
std::string LastLine(const std::string& log);

}  // namespace assay::cli

#endif  // ASSAY_CLI_LOCAL_HOUSEHOLD_H_
