#include "cli/local/household.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "cli/render/view.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::cli {
namespace {

using subprocess::ExitStatus;
using subprocess::Process;
using subprocess::Sink;

constexpr absl::Duration kStartLimit = absl::Seconds(60);
constexpr absl::Duration kStopGrace = absl::Seconds(15);
constexpr absl::Duration kStep = absl::Milliseconds(100);
constexpr char kCoordinatorLabel[] = "coordinator";

// A port of 127.0.0.1 that is free now. 0 where none is.
int FreePort() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  absl::Cleanup closer = [fd] { close(fd); };
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

absl::StatusOr<std::string> BesideOrInPath(const std::string& directory, const std::string& name) {
  std::string beside = absl::StrCat(directory, "/", name);
  if (!directory.empty() && access(beside.c_str(), X_OK) == 0) return beside;
  absl::StatusOr<std::string> found = subprocess::FindProgram(name);
  if (found.ok()) return found;
  return Error(absl::StatusCode::kNotFound, "cli.program_missing",
               {{"program", name}, {"dir", directory}});
}

}  // namespace

absl::StatusOr<Programs> FindPrograms() {
  char self[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", self, sizeof(self));
  std::string path = size > 0 ? std::string(self, static_cast<size_t>(size)) : "";
  std::string directory = path.substr(0, path.rfind('/'));
  Programs programs;
  programs.assay = path.empty() ? "assay" : path;
  ASSAY_ASSIGN_OR_RETURN(programs.assayd, BesideOrInPath(directory, "assayd"));
  ASSAY_ASSIGN_OR_RETURN(programs.agent, BesideOrInPath(directory, "assay-agent"));
  return programs;
}

std::string Member::Label() const { return absl::StrCat(render::EnumName(kind), "-", name); }

std::string LastLine(const std::string& log) {
  std::string last;
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    absl::string_view text = absl::StripAsciiWhitespace(line);
    if (!text.empty()) last = std::string(text);
  }
  return last;
}

absl::StatusOr<Household> Household::Open(const std::string& directory, Programs programs,
                                          KeepOn keep_on) {
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(directory, 0700));
  char resolved[PATH_MAX];
  std::string absolute = realpath(directory.c_str(), resolved) != nullptr ? resolved : directory;
  ASSAY_ASSIGN_OR_RETURN(files::DirectoryLock lock, files::DirectoryLock::Acquire(absolute));
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(absolute + "/logs", 0700));
  ASSAY_RETURN_IF_ERROR(files::MakeDirectories(absolute + "/agents", 0700));
  ASSAY_ASSIGN_OR_RETURN(subprocess::Leash leash, subprocess::Leash::Create());
  return Household(absolute, std::move(programs), std::move(keep_on), std::move(lock),
                   std::move(leash));
}

Household::Household(std::string directory, Programs programs, KeepOn keep_on,
                     files::DirectoryLock lock, subprocess::Leash leash)
    : directory_(std::move(directory)),
      programs_(std::move(programs)),
      keep_on_(std::move(keep_on)),
      lock_(std::move(lock)),
      leash_(std::move(leash)) {}

std::string Household::LogOf(const std::string& label) const {
  return absl::StrCat(logs(), "/", label, ".log");
}

absl::Status Household::EndedError(const std::string& label, const ExitStatus& status) const {
  absl::StatusOr<std::string> log = files::Read(LogOf(label));
  std::string how = status.signal != 0 ? absl::StrCat("signal ", status.signal)
                                       : absl::StrCat("exit ", status.code);
  return Error(absl::StatusCode::kUnavailable, "cli.child_ended",
               {{"child", label},
                {"how", how},
                {"last", log.ok() ? LastLine(*log) : ""},
                {"log", LogOf(label)}});
}

absl::Status Household::Complete(const std::string& label, const subprocess::Options& options) {
  ASSAY_ASSIGN_OR_RETURN(Process process, Process::Start(options));
  for (absl::Time end = absl::Now() + kStartLimit; absl::Now() < end;) {
    std::optional<ExitStatus> status = process.Wait(kStep);
    if (status.has_value()) return status->ok() ? absl::OkStatus() : EndedError(label, *status);
    ASSAY_RETURN_IF_ERROR(keep_on_());
  }
  return Error(
      absl::StatusCode::kUnavailable, "cli.child_slow",
      {{"child", label}, {"limit", absl::FormatDuration(kStartLimit)}, {"log", LogOf(label)}});
}

absl::Status Household::Launch(const std::string& label, subprocess::Options options) {
  options.standard_error = Sink::File(LogOf(label));
  ASSAY_ASSIGN_OR_RETURN(Process process, Process::Start(options));
  leash_.Add(process.pid());
  children_.push_back({label, std::move(process)});
  return absl::OkStatus();
}

absl::Status Household::StartCoordinator() {
  if (!HasContext(context_directory())) {
    int port = FreePort();
    std::string address = absl::StrCat("127.0.0.1:", port);
    subprocess::Options init;
    init.argv = {programs_.assayd, "init",  "--dir",     coordinator_directory(),
                 "--name",         "local", "--address", address,
                 "--listen",       address};
    init.standard_output = Sink::File(LogOf(kCoordinatorLabel));
    init.standard_error = Sink::File(LogOf(kCoordinatorLabel));
    ASSAY_RETURN_IF_ERROR(Complete(kCoordinatorLabel, init));
  }
  subprocess::Options serve;
  serve.argv = {programs_.assayd, "serve", "--dir", coordinator_directory()};
  serve.standard_output = Sink::Pipe();
  ASSAY_RETURN_IF_ERROR(Launch(kCoordinatorLabel, std::move(serve)));
  Process& process = children_.back().process;
  for (absl::Time end = absl::Now() + kStartLimit; absl::Now() < end;) {
    absl::StatusOr<std::string> line = process.ReadLine(kStep);
    if (line.ok() && absl::StartsWith(*line, "listening on ")) return absl::OkStatus();
    if (absl::IsOutOfRange(line.status())) process.Wait(kStopGrace);
    ASSAY_RETURN_IF_ERROR(Check());
    ASSAY_RETURN_IF_ERROR(keep_on_());
  }
  return Error(absl::StatusCode::kUnavailable, "cli.child_slow",
               {{"child", kCoordinatorLabel},
                {"limit", absl::FormatDuration(kStartLimit)},
                {"log", LogOf(kCoordinatorLabel)}});
}

absl::Status Household::StartAgent(const Member& member, Coordinator& coordinator) {
  const std::string label = member.Label();
  if (access(absl::StrCat(state_of(member), "/identity.pem").c_str(), F_OK) != 0) {
    v1::CreateTokenRequest request;
    request.set_subject_kind(member.kind);
    request.set_subject(member.name);
    ASSAY_ASSIGN_OR_RETURN(v1::CreateTokenResponse token, coordinator.CreateToken(request));
    subprocess::Options join;
    join.argv = {programs_.agent,
                 "join",
                 token.coordinator_address(),
                 "--ca-fingerprint",
                 token.ca_fingerprint(),
                 "--state-dir",
                 state_of(member)};
    join.environment = {{"ASSAY_JOIN_TOKEN", token.token()}};
    join.standard_output = Sink::File(LogOf(label));
    join.standard_error = Sink::File(LogOf(label));
    ASSAY_RETURN_IF_ERROR(Complete(label, join));
  }
  subprocess::Options run;
  run.argv = {programs_.agent, "run", "--state-dir", state_of(member)};
  run.standard_output = Sink::File(LogOf(label));
  return Launch(label, std::move(run));
}

absl::Status Household::AwaitAgents(const std::vector<Member>& members, Coordinator& coordinator) {
  std::set<std::string> missing;
  for (absl::Time end = absl::Now() + kStartLimit; absl::Now() < end;) {
    missing.clear();
    for (const Member& member : members) missing.insert(member.Label());
    ASSAY_ASSIGN_OR_RETURN(v1::ListAgentsResponse agents, coordinator.ListAgents());
    for (const v1::AgentInfo& agent : agents.agents()) {
      if (agent.state() != v1::AGENT_STATE_CONNECTED) continue;
      missing.erase(Member{agent.subject_kind(), agent.subject()}.Label());
    }
    if (missing.empty()) return absl::OkStatus();
    ASSAY_RETURN_IF_ERROR(Check());
    ASSAY_RETURN_IF_ERROR(keep_on_());
    absl::SleepFor(kStep);
  }
  absl::StatusOr<std::string> log = files::Read(LogOf(*missing.begin()));
  return Error(absl::StatusCode::kUnavailable, "cli.agent_not_connected",
               {{"agent", *missing.begin()},
                {"limit", absl::FormatDuration(kStartLimit)},
                {"last", log.ok() ? LastLine(*log) : ""},
                {"log", LogOf(*missing.begin())}});
}

absl::Status Household::Check() {
  for (Child& child : children_) {
    std::optional<ExitStatus> status = child.process.Wait(absl::ZeroDuration());
    if (status.has_value()) return EndedError(child.label, *status);
  }
  return absl::OkStatus();
}

void Household::Stop() {
  // All agents at once: each may take a moment to hand in what it has.
  for (size_t i = 1; i < children_.size(); ++i) {
    children_[i].process.Signal(SIGTERM).IgnoreError();
  }
  while (!children_.empty()) {
    Child& child = children_.back();
    pid_t group = child.process.pid();
    child.process.Terminate(kStopGrace);
    leash_.Remove(group);
    children_.pop_back();
  }
}

}  // namespace assay::cli
