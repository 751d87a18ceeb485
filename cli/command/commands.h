// The command groups: each adds its commands to the parser and says what they do.
#ifndef ASSAY_CLI_COMMAND_COMMANDS_H_
#define ASSAY_CLI_COMMAND_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <string>

#include "assay/v1/agent.pb.h"
#include "cli/command/session.h"
#include "common/base/message.h"

namespace assay::cli {

// Where commands are added. `chosen` gets the action of the command on the line.
class Registry {
 public:
  Registry(CLI::App* app, Language language, Action* chosen)
      : app_(app), language_(language), chosen_(chosen) {}

  // A group of commands, such as `run`; its help is the catalogue's "cli.help.<name>".
  Registry Group(const std::string& name);
  // A command; its help is the catalogue's "cli.help.<group>.<name>" with dots for spaces.
  CLI::App* Command(const std::string& name, Action action);
  // "cli.option.<id>" in the reader's language.
  std::string Help(const std::string& id) const;

 private:
  CLI::App* Add(const std::string& name);

  CLI::App* app_;
  Language language_;
  Action* chosen_;
  std::string path_;  // "run." within the group `run`
};

void AddIdentityCommands(Registry registry);  // join, whoami, token, agent, revoke
void AddDocumentCommands(Registry registry);  // apply, plan
void AddRunCommands(Registry registry);       // run
void AddResultCommands(Registry registry);    // result
void AddVerdictCommand(Registry registry);    // verdict
void AddLocalCommand(Registry registry);      // local

}  // namespace assay::cli

#endif  // ASSAY_CLI_COMMAND_COMMANDS_H_
