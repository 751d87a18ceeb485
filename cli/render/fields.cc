#include "cli/render/fields.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/term/output.h"
#include "common/term/width.h"

namespace assay::render {

std::string Fields::Render(const View& view) const {
  if (view.format == term::OutputFormat::kCsv) {
    std::vector<std::string> keys, values;
    for (const Entry& entry : entries_) {
      keys.push_back(entry.key);
      values.push_back(entry.machine);
    }
    return term::CsvRow(keys) + term::CsvRow(values);
  }
  int widest = 0;
  for (const Entry& entry : entries_) {
    if (entry.text.empty()) continue;
    widest = std::max(widest, term::DisplayWidth(view.Say("cli.column." + entry.key)));
  }
  std::string out;
  for (const Entry& entry : entries_) {
    if (entry.text.empty()) continue;
    std::string heading = view.Say("cli.column." + entry.key);
    absl::StrAppend(&out, term::Paint(heading, term::Style::kBold, view.terminal.colour),
                    std::string(widest - term::DisplayWidth(heading) + 2, ' '),
                    term::Printable(entry.text), "\n");
  }
  return out;
}

std::string Indented(absl::string_view text, int indent, term::Style style, const View& view) {
  std::string out;
  int width = view.terminal.width > 0 ? std::max(view.terminal.width - indent, 20) : 1 << 20;
  for (const std::string& line : term::Wrap(text, width)) {
    absl::StrAppend(&out, std::string(indent, ' '), term::Paint(line, style, view.terminal.colour),
                    "\n");
  }
  return out;
}

std::string Warning(absl::string_view about, absl::string_view text, const View& view) {
  return Warning(absl::StrCat(about, ": ", text), view);
}

std::string Warning(absl::string_view text, const View& view) {
  std::string lines = Indented(text, 2, term::Style::kWarning, view);
  lines[0] = '!';
  return lines;
}

}  // namespace assay::render
