#include "tests/system/deployment.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace assay::system_test {
namespace {

// A test cannot go on without its deployment: failures here are exceptions, which GoogleTest
// reports.
[[noreturn]] void Give(const std::string& why) { throw std::runtime_error(why); }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void Must(const std::vector<std::string>& argv) {
  CommandResult result = RunCommand(argv);
  if (result.exit_code != 0) Give(absl::StrCat(argv[0], " ", argv[1], ": ", result.err));
}

std::string UniqueName(const std::string& suffix) {
  static int counter = 0;
  return absl::StrCat("assay", getpid(), "x", ++counter, suffix);
}

}  // namespace

CommandResult RunCommand(const std::vector<std::string>& argv,
                         const std::vector<std::pair<std::string, std::string>>& environment,
                         absl::Duration timeout) {
  TemporaryFolder folder;
  subprocess::Options options;
  options.argv = argv;
  options.environment = environment;
  options.standard_output = subprocess::Sink::File(folder.path() + "/out");
  options.standard_error = subprocess::Sink::File(folder.path() + "/err");
  absl::StatusOr<subprocess::Process> process = subprocess::Process::Start(options);
  if (!process.ok()) Give(std::string(process.status().message()));
  std::optional<subprocess::ExitStatus> status = process->Wait(timeout);
  if (!status.has_value()) status = process->Terminate(absl::ZeroDuration());
  CommandResult result;
  result.exit_code = status->signal != 0 ? 128 + status->signal : status->code;
  result.out = ReadFile(folder.path() + "/out");
  result.err = ReadFile(folder.path() + "/err");
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path().string() + "/assay-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) Give("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int FreePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

TwoNamespaces::TwoNamespaces() : near_(UniqueName("n")), far_(UniqueName("f")) {
  std::string cable = absl::StrCat("a", getpid() % 100000, "n");
  std::string other = absl::StrCat("a", getpid() % 100000, "f");
  Must({"ip", "netns", "add", near_});
  Must({"ip", "netns", "add", far_});
  Must({"ip", "link", "add", cable, "netns", near_, "type", "veth", "peer", "name", other, "netns",
        far_});
  Must({"ip", "-n", near_, "addr", "add", "10.77.0.1/24", "dev", cable});
  Must({"ip", "-n", far_, "addr", "add", "10.77.0.2/24", "dev", other});
  for (const auto& [name_space, device] :
       {std::pair(near_, cable), std::pair(far_, other), std::pair(near_, std::string("lo")),
        std::pair(far_, std::string("lo"))}) {
    Must({"ip", "-n", name_space, "link", "set", device, "up"});
  }
}

TwoNamespaces::~TwoNamespaces() {
  RunCommand({"ip", "netns", "del", near_});
  RunCommand({"ip", "netns", "del", far_});
}

std::string Program(const std::string& name) { return absl::StrCat(ASSAY_BINARY_DIR, "/", name); }

std::vector<std::string> Inside(const std::string& name_space, std::vector<std::string> argv) {
  if (name_space.empty()) return argv;
  std::vector<std::string> whole = {"ip", "netns", "exec", name_space};
  whole.insert(whole.end(), argv.begin(), argv.end());
  return whole;
}

Deployment::Deployment(Options options) : options_(std::move(options)), port_(FreePort()) {
  CommandResult init =
      RunCommand({Program("assayd"), "init", "--dir", coordinator_folder(), "--name", "test",
                  "--address", address(), "--listen", address()});
  if (init.exit_code != 0) Give("assayd init: " + init.err);
}

Deployment::~Deployment() {
  agents_.clear();
  coordinator_.reset();
}

std::string Deployment::address() const { return absl::StrCat(options_.host, ":", port_); }

void Deployment::StartCoordinator() {
  subprocess::Options start;
  start.argv = {Program("assayd"), "serve", "--dir", coordinator_folder()};
  start.argv.insert(start.argv.end(), options_.serve_arguments.begin(),
                    options_.serve_arguments.end());
  start.argv = Inside(options_.name_space, start.argv);
  start.standard_output = subprocess::Sink::Pipe();
  start.standard_error = subprocess::Sink::File(folder() + "/coordinator.log");
  absl::StatusOr<subprocess::Process> process = subprocess::Process::Start(start);
  if (!process.ok()) Give(std::string(process.status().message()));
  absl::StatusOr<std::string> line = process->ReadLine(absl::Seconds(60));
  if (!line.ok()) Give("assayd serve did not come up: " + Log("coordinator"));
  coordinator_ = *std::move(process);
}

void Deployment::KillCoordinator() {
  (void)coordinator_->Signal(SIGKILL);
  (void)coordinator_->Wait(absl::Seconds(30));
  coordinator_.reset();
}

subprocess::ExitStatus Deployment::StopCoordinator() {
  subprocess::ExitStatus status = coordinator_->Terminate(absl::Seconds(60));
  coordinator_.reset();
  return status;
}

nlohmann::json Deployment::CreateToken(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"token", "create", "--output", "json"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  CommandResult result = Assay(command);
  if (result.exit_code != 0) Give("token create: " + result.err);
  return result.Json();
}

CommandResult Deployment::TryJoin(const std::string& state, const std::string& token,
                                  const std::string& name_space) {
  nlohmann::json any = CreateToken({"--vantage", "only-for-the-fingerprint"});
  return RunCommand(
      Inside(name_space, {Program("assay-agent"), "join", address(), "--ca-fingerprint",
                          any["ca_fingerprint"], "--state-dir", state}),
      {{"ASSAY_JOIN_TOKEN", token}});
}

void Deployment::Join(const std::string& kind, const std::string& name,
                      const std::string& name_space) {
  nlohmann::json token = CreateToken({"--" + kind, name});
  CommandResult result = TryJoin(state_of(name), token["token"], name_space);
  if (result.exit_code != 0) Give("join " + name + ": " + result.err);
  agents_[name].name_space = name_space;
}

void Deployment::StartAgent(const std::string& name,
                            const std::vector<std::pair<std::string, std::string>>& environment) {
  Agent& agent = agents_[name];
  subprocess::Options start;
  start.argv =
      Inside(agent.name_space, {Program("assay-agent"), "run", "--state-dir", state_of(name)});
  start.environment = environment;
  start.standard_output = subprocess::Sink::Discard();
  start.standard_error = subprocess::Sink::File(folder() + "/" + name + ".log");
  absl::StatusOr<subprocess::Process> process = subprocess::Process::Start(start);
  if (!process.ok()) Give(std::string(process.status().message()));
  agent.process = *std::move(process);
}

void Deployment::KillAgent(const std::string& name) {
  Agent& agent = agents_.at(name);
  (void)agent.process->Signal(SIGKILL);
  (void)agent.process->Wait(absl::Seconds(30));
  agent.process.reset();
}

std::optional<subprocess::ExitStatus> Deployment::WaitForAgent(const std::string& name,
                                                               absl::Duration timeout) {
  return agents_.at(name).process->Wait(timeout);
}

void Deployment::WaitUntilConnected(const std::vector<std::string>& names) {
  absl::Time end = absl::Now() + absl::Seconds(60);
  while (absl::Now() < end) {
    CommandResult list = Assay({"agent", "list", "--output", "csv"});
    size_t connected = 0;
    std::istringstream lines(list.out);
    for (std::string line; std::getline(lines, line);) {
      for (const std::string& name : names) {
        connected +=
            line.find(name) != std::string::npos && line.find("connected") != std::string::npos;
      }
    }
    if (connected == names.size()) return;
    absl::SleepFor(absl::Milliseconds(100));
  }
  std::string logs;
  for (const std::string& name : names) absl::StrAppend(&logs, Log(name), "\n");
  Give("agents did not connect:\n" + logs);
}

CommandResult Deployment::Assay(std::vector<std::string> arguments, absl::Duration timeout) {
  std::vector<std::string> argv = {Program("assay"), "--context", admin_context()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return RunCommand(Inside(options_.name_space, argv), {{"ASSAY_LANG", "en"}, {"TZ", "UTC"}},
                    timeout);
}

void Deployment::Apply(const std::string& yaml) {
  std::string path = folder() + "/apply.yaml";
  std::ofstream(path) << yaml;
  CommandResult result = Assay({"apply", "-f", path});
  if (result.exit_code != 0) Give("apply: " + result.err + result.out);
}

std::string Deployment::StartRun(const std::string& plan) {
  CommandResult result = Assay({"run", "start", plan, "--output", "json"});
  if (result.exit_code != 0) Give("run start: " + result.err);
  return result.Json()["id"];
}

std::string Deployment::WaitForRun(const std::string& run, absl::Duration timeout) {
  absl::Time end = absl::Now() + timeout;
  std::string state;
  while (absl::Now() < end) {
    state = Query("SELECT state FROM runs WHERE id = '" + run + "'");
    if (state != "1") return state;  // RunState: 1 is ACTIVE
    absl::SleepFor(absl::Milliseconds(200));
  }
  return state;
}

std::string Deployment::Query(const std::string& sql) {
  sqlite3* database = nullptr;
  std::string path = coordinator_folder() + "/assay.db";
  std::string value;
  if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(database, 10000);
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
      const unsigned char* text = sqlite3_column_text(statement, 0);
      if (text != nullptr) value = reinterpret_cast<const char*>(text);
    } else {
      ADD_FAILURE() << sql << ": " << sqlite3_errmsg(database);
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  return value;
}

std::string Deployment::Log(const std::string& name) const {
  return ReadFile(folder() + "/" + name + ".log");
}

}  // namespace assay::system_test
