// assay-agent: probes from a server or a vantage, for a coordinator or by hand.
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "agent/command/io.h"
#include "agent/command/probe_command.h"
#include "agent/enrolment/join.h"
#include "agent/enrolment/state.h"
#include "agent/guard/guard.h"
#include "agent/probe/probe.h"
#include "agent/session/driver.h"
#include "agent/spool/spool.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/build/version.h"
#include "common/clock/clock.h"
#include "common/files/files.h"
#include "common/rpc/credentials.h"
#include "common/rpc/library_log.h"
#include "common/term/output.h"
#include "common/tls/dial.h"
#include "core/document/units.h"

namespace {

using assay::Language;
using assay::Text;

// Exit codes of every Assay program.
constexpr int kDone = 0;
constexpr int kUsage = 2;
constexpr int kNotAllowed = 4;

constexpr char kDefaultState[] = "/var/lib/assay-agent";
constexpr char kDefaultConfig[] = "/etc/assay/agent.yaml";
constexpr absl::Duration kDiagnosisTimeout = absl::Seconds(10);

struct JoinWords {
  std::string coordinator, token, token_file, fingerprint, output = "table";
  bool replace = false;
};

struct RunWords {
  std::string config;
  std::string spool_limit = "1GB";
  int max_parallel = 8;
};

int Fail(Language language, const absl::Status& status, int exit_code) {
  std::cerr << "assay-agent: " << assay::Render(language, status) << std::endl;
  return exit_code;
}

// A command line shows its arguments to every user of the host: the environment and a file do not.
absl::StatusOr<std::string> TokenOf(const JoinWords& words) {
  std::string token = words.token;
  if (token.empty() && !words.token_file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(token, assay::files::Read(words.token_file, 4096));
  }
  if (const char* variable = std::getenv("ASSAY_JOIN_TOKEN"); token.empty() && variable) {
    token = variable;
  }
  absl::StripAsciiWhitespace(&token);
  if (token.empty()) return assay::Error(absl::StatusCode::kNotFound, "agent.token_missing");
  return token;
}

void PrintJoined(Language language, assay::term::OutputFormat format,
                 const assay::enrolment::JoinOptions& options,
                 const assay::v1::EnrolResponse& response) {
  bool server = response.subject_kind() == assay::v1::SUBJECT_KIND_SERVER;
  std::string kind = server ? "server" : "vantage";
  std::string coordinator = options.coordinator.ToString();
  switch (format) {
    case assay::term::OutputFormat::kJson: {
      nlohmann::json json = {{"kind", kind},
                             {"subject", response.subject()},
                             {"agent_id", response.agent_id()},
                             {"coordinator", coordinator},
                             {"state_dir", options.state_directory}};
      std::cout << json.dump(2) << std::endl;
      return;
    }
    case assay::term::OutputFormat::kCsv:
      std::cout << assay::term::CsvRow({"kind", "subject", "agent_id", "coordinator", "state_dir"})
                << assay::term::CsvRow({kind, response.subject(), response.agent_id(), coordinator,
                                        options.state_directory})
                << std::flush;
      return;
    case assay::term::OutputFormat::kTable:
      std::cout << Text(language, server ? "agent.joined_server" : "agent.joined_vantage",
                        {{"subject", response.subject()},
                         {"coordinator", coordinator},
                         {"directory", options.state_directory}})
                << std::endl;
      return;
  }
}

int Join(Language language, const JoinWords& words, const std::string& state_directory) {
  auto format = assay::term::ParseOutputFormat(words.output);
  if (!format.ok()) return Fail(language, format.status(), kUsage);
  absl::StatusOr<std::string> token = TokenOf(words);
  if (!token.ok()) return Fail(language, token.status(), kUsage);
  absl::StatusOr<assay::tls::HostPort> coordinator = assay::tls::ParseHostPort(words.coordinator);
  if (!coordinator.ok()) return Fail(language, coordinator.status(), kUsage);

  assay::enrolment::JoinOptions options;
  options.coordinator = *coordinator;
  options.token = *token;
  options.ca_fingerprint = words.fingerprint;
  options.state_directory = state_directory;
  options.replace = words.replace;
  options.version = assay::kVersion;
  absl::StatusOr<assay::v1::EnrolResponse> response = assay::enrolment::Join(options);
  if (!response.ok()) {
    return Fail(language, response.status(),
                absl::IsInvalidArgument(response.status()) ? kUsage : kNotAllowed);
  }
  PrintJoined(language, *format, options, *response);
  return kDone;
}

// "Linux 6.1.0 x86_64"
std::string OperatingSystem() {
  utsname names = {};
  if (uname(&names) != 0) return "";
  return absl::StrCat(names.sysname, " ", names.release, " ", names.machine);
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

// Calls `stop` when SIGINT or SIGTERM comes, in a thread of its own. To be made before any other
// thread, so that all of them leave the signals to it.
class StopOnSignal {
 public:
  StopOnSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  void Start(std::function<void()> stop) {
    thread_ = std::thread([this, stop = std::move(stop)] {
      int signal = 0;
      while (sigwait(&signals_, &signal) != 0) {
      }
      if (!over_) stop();
    });
  }
  ~StopOnSignal() {
    if (!thread_.joinable()) return;
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  sigset_t signals_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

absl::StatusOr<std::shared_ptr<const assay::guard::Guard>> GuardOf(const RunWords& words) {
  // A file that somebody names and that is not there is a mistake; the usual one may be missing.
  if (!words.config.empty() && access(words.config.c_str(), F_OK) != 0) {
    return assay::Error(absl::StatusCode::kNotFound, "agent.config_missing",
                        {{"path", words.config}});
  }
  return std::shared_ptr<const assay::guard::Guard>(
      assay::guard::LoadGuard(words.config.empty() ? kDefaultConfig : words.config));
}

int Run(Language language, const RunWords& words, const std::string& state_directory) {
  absl::StatusOr<double> spool_limit =
      assay::document::ParseQuantity(words.spool_limit, assay::v1::UNIT_BYTES);
  if (!spool_limit.ok()) return Fail(language, spool_limit.status(), kUsage);
  auto guard = GuardOf(words);
  if (!guard.ok()) return Fail(language, guard.status(), kUsage);

  assay::enrolment::StatePaths paths(state_directory);
  auto enrolment = assay::enrolment::LoadEnrolment(paths);
  if (!enrolment.ok()) return Fail(language, enrolment.status(), kNotAllowed);
  auto lock = assay::files::DirectoryLock::Acquire(paths.directory);
  if (!lock.ok()) return Fail(language, lock.status(), kNotAllowed);
  assay::spool::SpoolOptions spool_options;
  spool_options.max_bytes = static_cast<uint64_t>(*spool_limit);
  auto spool = assay::spool::OpenSpool(paths.spool, paths.corrupt, spool_options);
  if (!spool.ok()) return Fail(language, spool.status(), kNotAllowed);

  StopOnSignal signals;
  assay::SystemClock clock;
  assay::session::DriverOptions options;
  options.dial = [coordinator =
                      enrolment->coordinator](const std::optional<assay::tls::Identity>& identity) {
    return assay::rpc::MakeChannel(coordinator, identity->ca_pem, identity);
  };
  options.diagnose =
      [coordinator = enrolment->coordinator](const std::optional<assay::tls::Identity>& identity) {
        return assay::tls::Diagnose(coordinator, identity, kDiagnosisTimeout);
      };
  options.identity = enrolment->identity;
  options.identity_path = paths.identity;
  options.identity_obtained = enrolment->obtained;
  options.probes = std::make_shared<const assay::session::ProbeSet>(assay::agent::AllProbes());
  options.guard = *guard;
  options.spool = spool->get();
  options.clock = &clock;
  options.max_parallel = words.max_parallel;
  options.version = assay::kVersion;
  options.hostname = HostName();
  options.os = OperatingSystem();
  options.log_language = language;
  spdlog::info("assay-agent {} with the coordinator {}, state in {}", assay::kVersion,
               enrolment->coordinator.ToString(), paths.directory);

  absl::Status status;
  bool left_threads = false;
  {
    assay::session::Driver driver(std::move(options));
    signals.Start([&driver] {
      spdlog::info("stopping");
      driver.Stop();
    });
    status = driver.Run();
    left_threads = driver.left_threads();
  }
  int exit_code = status.ok() ? kDone : Fail(language, status, kNotAllowed);
  // A thread that hangs, say in a name look-up, must not meet destroyed objects.
  if (left_threads) std::_Exit(exit_code);
  return exit_code;
}

std::string WithoutTrailingSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  umask(077);
  assay::rpc::QuietLibraryLog();
  spdlog::set_default_logger(spdlog::stderr_color_mt("assay-agent"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");

  assay::term::Environment environment = assay::term::SystemEnvironment();
  Language language = assay::term::LanguageOfCommandLine(argc, argv, environment);
  CLI::App app(Text(language, "agent.help"), "assay-agent");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", assay::kVersion);
  std::string lang;
  app.add_option("--lang", lang, Text(language, "agent.help_lang"));

  const char* state_variable = std::getenv("ASSAY_AGENT_STATE");
  std::string state = state_variable != nullptr && *state_variable ? state_variable : kDefaultState;
  auto add_state = [&](CLI::App* command) {
    command->add_option("--state-dir", state, Text(language, "agent.help_state_dir"))
        ->capture_default_str();
  };

  JoinWords join_words;
  CLI::App* join = app.add_subcommand("join", Text(language, "agent.help_join"));
  join->add_option("coordinator", join_words.coordinator, Text(language, "agent.help_coordinator"))
      ->required();
  join->add_option("--token", join_words.token, Text(language, "agent.help_token"));
  join->add_option("--token-file", join_words.token_file, Text(language, "agent.help_token_file"));
  join->add_option("--ca-fingerprint", join_words.fingerprint,
                   Text(language, "agent.help_fingerprint"))
      ->required();
  join->add_flag("--replace", join_words.replace, Text(language, "agent.help_replace"));
  join->add_option("--output", join_words.output, "table, json, csv")->capture_default_str();
  add_state(join);

  RunWords run_words;
  CLI::App* run = app.add_subcommand("run", Text(language, "agent.help_run"));
  run->add_option("--config", run_words.config,
                  Text(language, "agent.help_config", {{"path", kDefaultConfig}}));
  run->add_option("--max-parallel", run_words.max_parallel,
                  Text(language, "agent.help_max_parallel"))
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  run->add_option("--spool-limit", run_words.spool_limit, Text(language, "agent.help_spool_limit"))
      ->capture_default_str();
  add_state(run);

  CLI::App* version = app.add_subcommand("version", Text(language, "agent.help_version"));
  assay::command::ProbeCommand probe(app, language);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return assay::command::ReportParseError(app, error, assay::command::SystemIo(language));
  }
  absl::StatusOr<Language> chosen = assay::term::ChooseLanguage(lang, environment);
  if (!chosen.ok()) return Fail(language, chosen.status(), kUsage);
  state = WithoutTrailingSlash(state);

  if (probe.chosen()) return probe.Run(assay::command::SystemIo(*chosen));
  if (*join) return Join(*chosen, join_words, state);
  if (*run) return Run(*chosen, run_words, state);
  if (*version) std::cout << "assay-agent " << assay::kVersion << std::endl;
  return kDone;
}
