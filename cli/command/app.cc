#include "cli/command/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/command/commands.h"
#include "common/base/message.h"
#include "common/build/version.h"
#include "core/document/units.h"

namespace assay::cli {
namespace {

constexpr char kDefaultTimeout[] = "30s";

struct GlobalOptions {
  std::string context;
  std::string output = "table";
  std::string lang;
  std::string timeout = kDefaultTimeout;
};

// Help is written before the line is parsed: this looks for --lang in it. A wrong value is told
// of later.
Language LanguageOf(const std::vector<std::string>& arguments,
                    const term::Environment& environment) {
  std::string flag;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--lang" && i + 1 < arguments.size()) flag = arguments[i + 1];
    if (absl::StartsWith(arguments[i], "--lang=")) flag = arguments[i].substr(7);
  }
  absl::StatusOr<Language> language = term::ChooseLanguage(flag, environment);
  if (!language.ok()) language = term::ChooseLanguage("", environment);
  return language.value_or(Language::kEnglish);
}

// The command as it was typed: "assay run start".
std::string CommandPath(const CLI::App& app) {
  std::string path = "assay";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    absl::StrAppend(&path, " ", at->get_name());
  }
  return path;
}

// CLI11 speaks English only; its kinds of error are said again here.
std::string ParseErrorText(const CLI::ParseError& error, const CLI::App& app, Language language) {
  std::string detail = absl::StrReplaceAll(error.what(), {{"\n", " "}});
  std::string what;
  std::vector<std::string> extras = app.remaining(true);
  // A word that is no command is left over before the missing command is noticed.
  bool no_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                    absl::StrContains(detail, "subcommand");
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || (no_command && !extras.empty())) {
    what = Text(language, "cli.unknown_argument",
                {{"argument", extras.empty() ? detail : extras.front()}});
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    std::vector<std::string> extras = app.remaining(true);
    if (no_command) {
      // A word that is no command is better news than that there is none.
      what = extras.empty()
                 ? Text(language, "cli.missing_command")
                 : Text(language, "cli.unknown_argument", {{"argument", extras.front()}});
    } else {
      what = Text(language, "cli.missing_argument",
                  {{"argument", std::string(absl::StripSuffix(detail, " is required"))}});
    }
  } else if (std::vector<std::string> parts = absl::StrSplit(
                 absl::StripPrefix(detail, "Could not convert: "), absl::MaxSplits(" = ", 1));
             dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && parts.size() == 2) {
    what = Text(language, "cli.not_a_number", {{"argument", parts[0]}, {"value", parts[1]}});
  } else {
    what = Text(language, "cli.bad_line", {{"detail", detail}});
  }
  return absl::StrCat(what, Text(language, "cli.see_help", {{"command", CommandPath(app)}}));
}

// Errors stand on one line, whatever the text holds.
void Complain(const World& world, absl::string_view text) {
  world.err(absl::StrCat("assay: ", absl::StrReplaceAll(text, {{"\n", " "}}), "\n"));
}

absl::Status Settle(const GlobalOptions& options, const World& world, Session& session) {
  absl::StatusOr<Language> language = term::ChooseLanguage(options.lang, world.environment);
  if (!language.ok()) return language.status();
  absl::StatusOr<term::OutputFormat> format = term::ParseOutputFormat(options.output);
  if (!format.ok()) return format.status();
  absl::StatusOr<absl::Duration> timeout = document::ParseDuration(options.timeout);
  if (!timeout.ok()) return timeout.status();
  session.timeout = std::max(*timeout, absl::Milliseconds(1));
  session.view.language = *language;
  session.view.format = *format;
  session.view.terminal = world.terminal;
  session.view.zone = world.zone;
  session.context_directory =
      options.context.empty() ? DefaultContextDirectory(world.environment) : options.context;
  return absl::OkStatus();
}

}  // namespace

Registry Registry::Group(const std::string& name) {
  Registry group = *this;
  group.app_ = Add(name);
  group.app_->require_subcommand(1);
  group.path_ = absl::StrCat(path_, name, ".");
  return group;
}

CLI::App* Registry::Command(const std::string& name, Action action) {
  CLI::App* command = Add(name);
  command->callback([chosen = chosen_, action = std::move(action)] { *chosen = action; });
  return command;
}

CLI::App* Registry::Add(const std::string& name) {
  CLI::App* added =
      app_->add_subcommand(name, Text(language_, absl::StrCat("cli.help.", path_, name)));
  added->group(Text(language_, "cli.help_commands"));
  added->fallthrough();
  added->set_help_flag("-h,--help", Text(language_, "cli.option.help"));
  return added;
}

std::string Registry::Help(const std::string& id) const {
  return Text(language_, absl::StrCat("cli.option.", id));
}

int ExitCodeOf(const absl::Status& status) {
  return status.code() == absl::StatusCode::kInvalidArgument ? kUsage : kNotPossible;
}

int Main(const std::vector<std::string>& arguments, const World& world) {
  const Language language = LanguageOf(arguments, world.environment);
  auto say = [language](absl::string_view id) { return Text(language, id); };
  GlobalOptions options;
  Action action;
  CLI::App app(say("cli.help"), "assay");
  app.option_defaults()->group(say("cli.help_options"));
  app.get_formatter()->column_width(34);
  app.get_formatter()->label("REQUIRED", say("cli.help_required"));
  app.get_formatter()->label("Usage", say("cli.help_usage"));
  app.set_help_flag("-h,--help", say("cli.option.help"));
  app.set_version_flag("--version", kVersion, say("cli.option.version"));
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--context", options.context, say("cli.option.context"))->type_name("DIR");
  app.add_option("--output", options.output, say("cli.option.output"))->type_name("FORMAT");
  app.add_option("--lang", options.lang, say("cli.option.lang"))->type_name("zh|en");
  app.add_option("--timeout", options.timeout, say("cli.option.timeout"))->type_name("TIME");
  Registry registry(&app, language, &action);
  AddIdentityCommands(registry);
  AddDocumentCommands(registry);
  AddRunCommands(registry);
  AddResultCommands(registry);
  AddVerdictCommand(registry);
  AddLocalCommand(registry);

  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    world.out(app.help());
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    world.out(absl::StrCat(version.what(), "\n"));
    return kDone;
  } catch (const CLI::ParseError& error) {
    Complain(world, ParseErrorText(error, app, language));
    return kUsage;
  }
  Session session(world);
  absl::Status settled = Settle(options, world, session);
  if (!settled.ok()) {
    Complain(world, Render(language, settled));
    return kUsage;
  }
  absl::StatusOr<int> code = action(session);
  if (code.ok()) return *code;
  Complain(world, Render(session.view.language, code.status()));
  return ExitCodeOf(code.status());
}

}  // namespace assay::cli
