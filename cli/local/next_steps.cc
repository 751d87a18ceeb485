#include "cli/local/next_steps.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cli/render/fields.h"

namespace assay::cli {

std::string ShellWord(absl::string_view word) {
  bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("-_./:@%+=,", absl::string_view(&c, 1));
  });
  if (plain) return std::string(word);
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::string Render(const NextSteps& steps, const render::View& view) {
  render::Fields kept;
  kept.Add("database", steps.database);
  kept.Add("context", steps.context);
  kept.Add("logs", steps.logs);
  std::string assay =
      absl::StrCat(ShellWord(steps.assay), " --context ", ShellWord(steps.context), " ");
  auto line = [&](absl::string_view id, const std::string& command) {
    return absl::StrCat("  # ", view.Say(id), "\n  ", command, "\n");
  };
  return absl::StrCat(
      kept.Render(view), "\n", view.Say("cli.next_heading"), "\n",
      steps.running
          ? std::string()
          : line("cli.next_serve", absl::StrCat(ShellWord(steps.assayd), " serve --dir ",
                                                ShellWord(steps.coordinator_directory), " &")),
      line("cli.next_explain", absl::StrCat(assay, "verdict ", ShellWord(steps.server), " --run ",
                                            ShellWord(steps.run), " --explain")),
      line("cli.next_results", absl::StrCat(assay, "result list --run ", ShellWord(steps.run))));
}

}  // namespace assay::cli
