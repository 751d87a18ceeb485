#include "agent/command/probe_command.h"

#include <sys/stat.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "agent/command/probe_options.h"
#include "agent/command/probe_report.h"
#include "agent/command/signal_watch.h"
#include "agent/guard/guard.h"
#include "agent/probe/probe.h"
#include "common/base/status_macros.h"
#include "common/term/width.h"

namespace assay::command {
namespace {

struct KindHelp {
  const char* kind;
  const char* count;
  const char* interval;
  const char* timeout;
};
// Defaults are the probes' own (proto/assay/v1/model.proto).
constexpr KindHelp kKinds[] = {
    {"icmp", "100", "50ms", "2s"}, {"tcp", "20", "200ms", "5s"}, {"http", "5", "1s", "10s"}};

// A line on the terminal while the probe runs.
class ProgressLine {
 public:
  ProgressLine(const Io& io, std::string label)
      : area_(io.err_fd, io.err_terminal), label_(std::move(label)) {}

  void Show(double fraction) {
    std::lock_guard lock(mutex_);
    absl::Time now = absl::Now();
    if (now - shown_at_ < absl::Milliseconds(100)) return;
    shown_at_ = now;
    area_.Show(absl::StrFormat("%s  %.0f %%", label_, fraction * 100));
  }
  void Clear() {
    std::lock_guard lock(mutex_);
    area_.Clear();
  }

 private:
  std::mutex mutex_;
  term::LiveArea area_;
  const std::string label_;
  absl::Time shown_at_ = absl::InfinitePast();
};

int Complain(const Io& io, const std::string& program, absl::string_view text) {
  io.err << term::Printable(absl::StrCat(program, ": ", text)) << "\n";
  return kUsage;
}

std::unique_ptr<agent::Probe> FindProbe(const std::string& kind) {
  for (std::unique_ptr<agent::Probe>& probe : agent::AllProbes()) {
    if (probe->kind() == kind) return std::move(probe);
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<guard::Guard>> GuardOf(const std::string& config) {
  if (config.empty()) return guard::AllowAll();
  // An agent may go without a file; somebody who names one means it.
  struct stat found {};
  if (stat(config.c_str(), &found) != 0) {
    return Error(absl::StatusCode::kInvalidArgument, "command.no_config", {{"path", config}});
  }
  return guard::LoadGuard(config);
}

v1::Result Refused(const absl::Status& why) {
  v1::Result result;
  result.set_outcome(v1::OUTCOME_NOT_MEASURABLE);
  *result.mutable_reason() = MessageOf(why).value_or(v1::Message());
  result.mutable_started_at()->set_seconds(absl::ToUnixSeconds(absl::Now()));
  *result.mutable_finished_at() = result.started_at();
  return result;
}

v1::Result Measure(const HandProbe& hand, const std::string& kind, const guard::Guard& guard,
                   const Io& io) {
  std::vector<std::string> allowed = {hand.host};  // who names it by hand stands for the plan
  absl::Status permitted = guard.CheckProbe(kind);
  if (permitted.ok()) permitted = guard.CheckHost(hand.host, allowed);
  if (!permitted.ok()) return Refused(permitted);
  agent::ProbeRequest request{.probe = hand.probe,
                              .guard = &guard,
                              .server_addresses = allowed,
                              .time_limit = absl::ZeroDuration()};
  SignalWatch signals;
  ProgressLine line(io, absl::StrCat(kind, " ", term::Printable(hand.shown_target)));
  agent::ProbeControl control{.cancelled = &signals.stopped(),
                              .progress = [&line](double fraction) { line.Show(fraction); }};
  line.Show(0);
  v1::Result result = FindProbe(kind)->Run(request, control);
  line.Clear();
  return result;
}

}  // namespace

struct ProbeCommand::Options {
  CLI::App* probe = nullptr;
  std::vector<CLI::App*> kinds;
  std::string program;
  // One set for all kinds: a command line has one of them.
  ProbeWords words;
  std::string output = "table";
  std::string lang;
  std::string config;
};

ProbeCommand::ProbeCommand(CLI::App& program, Language language)
    : options_(std::make_unique<Options>()) {
  Options& o = *options_;
  auto help = [language](const char* id, MessageArgs args = {}) {
    return Text(language, absl::StrCat("command.", id), args);
  };
  o.program = program.get_name();
  o.probe = program.add_subcommand("probe", help("probe"));
  o.probe->require_subcommand(1);
  o.probe->set_help_flag("-h,--help", help("help"));
  for (const KindHelp& kind : kKinds) {
    CLI::App* app = o.probe->add_subcommand(kind.kind, help(kind.kind));
    o.kinds.push_back(app);
    app->set_help_flag("-h,--help", help("help"));
    app->footer(help("exit_codes"));
    const absl::string_view name = kind.kind;
    std::string target = name == "icmp" ? "host" : std::string(name);
    app->add_option("TARGET", o.words.target, help(absl::StrCat("target_", target).c_str()))
        ->required()
        ->type_name("");
    if (name == "tcp") app->add_option("PORT", o.words.port, help("port"))->type_name("");
    app->add_option("-n,--count", o.words.count, help("count", {{"default", kind.count}}))
        ->type_name("N");
    app->add_option("--interval", o.words.interval, help("interval", {{"default", kind.interval}}))
        ->type_name("TIME");
    app->add_option("--timeout", o.words.timeout, help("timeout", {{"default", kind.timeout}}))
        ->type_name("TIME");
    if (name == "icmp") {
      app->add_option("--payload", o.words.payload, help("payload"))->type_name("BYTES");
      app->add_option("--dscp", o.words.dscp, help("dscp"))->type_name("N");
    }
    if (name == "http") {
      app->add_flag("-k,--insecure", o.words.insecure, help("insecure"));
      app->add_option("--host-name", o.words.host_name, help("host_name"))->type_name("NAME");
      app->add_option("--max-body", o.words.max_body, help("max_body"))->type_name("SIZE");
      app->add_option("--expect-status", o.words.expect_status, help("expect_status"))
          ->type_name("CODE");
    }
    app->add_flag("-4", o.words.ipv4, help("ipv4"));
    app->add_flag("-6", o.words.ipv6, help("ipv6"));
    app->add_option("--output", o.output, help("output"))->type_name("FORMAT");
    app->add_option("--lang", o.lang, help("lang"))->type_name("LANG");
    app->add_option("--config", o.config, help("config"))->type_name("FILE");
  }
}

ProbeCommand::~ProbeCommand() = default;

bool ProbeCommand::chosen() const { return options_->probe->parsed(); }

int ProbeCommand::Run(const Io& given) const {
  Io io = given;
  ProbeWords words = options_->words;
  for (const CLI::App* kind : options_->kinds) {
    if (kind->parsed()) words.kind = kind->get_name();
  }
  const std::string program = absl::StrCat(options_->program, " probe ", words.kind);
  auto complain = [&](const absl::Status& status) {
    return Complain(io, program, Render(io.language, status));
  };
  if (!options_->lang.empty()) {
    absl::StatusOr<Language> language = term::ChooseLanguage(options_->lang, {});
    if (!language.ok()) return complain(language.status());
    io.language = *language;
  }
  absl::StatusOr<term::OutputFormat> format = term::ParseOutputFormat(options_->output);
  if (!format.ok()) return complain(format.status());
  std::string blamed;
  absl::StatusOr<HandProbe> hand = MakeHandProbe(words, &blamed);
  if (!hand.ok()) {
    std::string option =
        blamed.empty() ? "" : absl::StrCat(blamed, Text(io.language, "summary.colon"));
    return Complain(io, program, absl::StrCat(option, Render(io.language, hand.status())));
  }
  absl::StatusOr<std::unique_ptr<guard::Guard>> guard = GuardOf(options_->config);
  if (!guard.ok()) return complain(guard.status());

  v1::Result result = Measure(*hand, words.kind, **guard, io);
  if (result.outcome() == v1::OUTCOME_FAILED && result.reason().id() == "probe.bad_parameter") {
    return Complain(io, program, Render(io.language, result.reason()));
  }
  absl::StatusOr<nlohmann::ordered_json> report =
      ReportJson(words.kind, hand->shown_target, result, io.language);
  if (!report.ok()) {
    complain(report.status());
    return kNotMeasured;
  }
  switch (*format) {
    case term::OutputFormat::kJson:
      // What a remote machine said may not be UTF-8.
      io.out << report->dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
      break;
    case term::OutputFormat::kCsv:
      io.out << ReportCsv(*report);
      break;
    case term::OutputFormat::kTable:
      io.out << ReportText(*report, io.out_terminal, io.language);
      break;
  }
  io.out.flush();
  return result.outcome() == v1::OUTCOME_OK ? kDone : kNotMeasured;
}

int ReportParseError(const CLI::App& program, const CLI::ParseError& error, const Io& io) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    program.exit(error, io.out, io.err);
    return kDone;
  }
  // The subcommand that the words had led to.
  std::string command = program.get_name();
  const CLI::App* app = &program;
  for (std::vector<CLI::App*> next = app->get_subcommands(); !next.empty();
       next = app->get_subcommands()) {
    app = next.front();
    absl::StrAppend(&command, " ", app->get_name());
  }
  std::string detail = error.what();
  std::string text;
  constexpr absl::string_view kRequired = " is required";
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) &&
      !program.remaining(true).empty()) {
    text = Text(io.language, "command.unexpected",
                {{"argument", program.remaining(true).front()}, {"command", command}});
  } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
             absl::EndsWith(detail, kRequired)) {
    text =
        Text(io.language, "command.missing",
             {{"what", detail.substr(0, detail.size() - kRequired.size())}, {"command", command}});
  } else {
    text = Text(io.language, "command.usage", {{"detail", detail}, {"command", command}});
  }
  return Complain(io, command, text);
}

}  // namespace assay::command
