// `assay-agent probe icmp|tcp|http TARGET ...`: one probe, by hand, with the code that plans use.
//
//   CLI::App program("...", "assay-agent");
//   command::ProbeCommand probe(program, language);
//   try {
//     program.parse(argc, argv);
//   } catch (const CLI::ParseError& error) {
//     return command::ReportParseError(program, error, io);
//   }
//   if (probe.chosen()) return probe.Run(io);
#ifndef ASSAY_AGENT_COMMAND_PROBE_COMMAND_H_
#define ASSAY_AGENT_COMMAND_PROBE_COMMAND_H_

#include <CLI/CLI.hpp>
#include <memory>

#include "agent/command/io.h"

namespace assay::command {

class ProbeCommand {
 public:
  // Adds `probe` and its kinds. `language` is of the help texts: term::LanguageOfCommandLine.
  ProbeCommand(CLI::App& program, Language language);
  ~ProbeCommand();
  ProbeCommand(const ProbeCommand&) = delete;
  ProbeCommand& operator=(const ProbeCommand&) = delete;

  // Whether the command line that was parsed asks for a probe.
  bool chosen() const;

  // Runs it and prints the result: kDone where something was measured, good or bad; kUsage for
  // parameters that make no sense; kNotMeasured where nothing was, or the configuration refuses.
  // SIGINT and SIGTERM end the probe early: what it has so far is printed. A --lang behind the kind
  // wins over io.language.
  int Run(const Io& io) const;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

// Help goes to io.out and is kDone; anything else is one line to io.err and kUsage.
int ReportParseError(const CLI::App& program, const CLI::ParseError& error, const Io& io);

}  // namespace assay::command

#endif  // ASSAY_AGENT_COMMAND_PROBE_COMMAND_H_
