// assayd: the coordinator.
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/message.h"
#include "common/build/version.h"
#include "common/clock/clock.h"
#include "common/rpc/library_log.h"
#include "common/term/output.h"
#include "core/document/units.h"
#include "server/app/init.h"
#include "server/app/serve.h"
#include "server/app/settings.h"

namespace {

using assay::Language;

// Exit codes of every Assay program.
constexpr int kDone = 0;
constexpr int kUsage = 2;
constexpr int kNotAllowed = 4;

int Fail(Language language, const absl::Status& status) {
  std::fprintf(stderr, "assayd: %s\n", assay::Render(language, status).c_str());
  return status.code() == absl::StatusCode::kInvalidArgument ? kUsage : kNotAllowed;
}

int Init(Language language, const std::string& directory, const std::string& name,
         const std::string& address, const std::string& listen, const std::string& admin) {
  assay::SystemClock clock;
  absl::StatusOr<assay::app::Settings> settings = assay::app::ParseSettings(
      assay::app::FormatSettings({name, address, listen}), directory + "/assayd.yaml");
  if (!settings.ok()) return Fail(language, settings.status());
  absl::Status status = assay::app::Initialise(directory, *settings, admin, clock);
  if (!status.ok()) return Fail(language, status);
  std::puts(assay::Text(language, "server.initialised",
                        {{"dir", directory}, {"name", name}, {"address", settings->address}})
                .c_str());
  return kDone;
}

int Serve(Language language, const assay::app::ServeOptions& options) {
  // Blocked here, before any thread exists, so that all of them inherit it.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  assay::SystemClock clock;
  absl::StatusOr<std::unique_ptr<assay::app::Coordinator>> coordinator =
      assay::app::Coordinator::Start(options, clock);
  if (!coordinator.ok()) return Fail(language, coordinator.status());
  std::printf("listening on %s\n", (*coordinator)->listening_address().c_str());
  std::fflush(stdout);

  timespec interval = {1, 0};
  while (sigtimedwait(&signals, nullptr, &interval) < 0) (*coordinator)->Housekeep();
  (*coordinator)->Stop();
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  assay::rpc::QuietLibraryLog();
  spdlog::set_default_logger(spdlog::stderr_color_mt("assayd"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");

  CLI::App app("assayd: Assay's coordinator");
  app.require_subcommand(1);
  app.set_version_flag("--version", assay::kVersion);
  std::string lang;
  app.add_option("--lang", lang, "zh or en");
  app.fallthrough();

  std::string directory = "/var/lib/assay";
  std::string name, address, listen, admin = "admin";
  CLI::App* init = app.add_subcommand("init", "Create a coordinator: CA, database, first admin");
  init->add_option("--dir", directory, "where it keeps everything")->capture_default_str();
  init->add_option("--name", name, "its name, part of every certificate")->required();
  init->add_option("--address", address, "HOST:PORT that agents and people dial")->required();
  init->add_option("--listen", listen, "HOST:PORT to bind; default: every address, same port");
  init->add_option("--admin", admin, "name of the first admin")->capture_default_str();

  assay::app::ServeOptions serve_options;
  std::string agent_lifetime = "30d", heartbeat = "10s";
  CLI::App* serve = app.add_subcommand("serve", "Run the coordinator");
  serve->add_option("--dir", directory, "where `assayd init` created it")->capture_default_str();
  serve->add_option("--listen", serve_options.listen, "HOST:PORT to bind instead of the settings'");
  serve
      ->add_option("--agent-certificate-lifetime", agent_lifetime,
                   "how long agents' certificates are valid")
      ->capture_default_str();
  serve->add_option("--heartbeat", heartbeat, "interval of agents' heartbeats")
      ->capture_default_str();

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "assayd: %s; see assayd --help\n", error.what());
    return kUsage;
  }
  absl::StatusOr<Language> language =
      assay::term::ChooseLanguage(lang, assay::term::SystemEnvironment());
  if (!language.ok()) return Fail(Language::kEnglish, language.status());

  if (*init) return Init(*language, directory, name, address, listen, admin);
  absl::StatusOr<absl::Duration> lifetime = assay::document::ParseDuration(agent_lifetime);
  if (!lifetime.ok()) return Fail(*language, lifetime.status());
  absl::StatusOr<absl::Duration> interval = assay::document::ParseDuration(heartbeat);
  if (!interval.ok()) return Fail(*language, interval.status());
  serve_options.directory = directory;
  serve_options.agent_certificate_lifetime = *lifetime;
  serve_options.heartbeat_interval = *interval;
  return Serve(*language, serve_options);
}
