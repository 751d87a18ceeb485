#include "common/term/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace assay::term {
namespace {

const char* StyleCode(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\033[1m";
    case Style::kDim:
      return "\033[2m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[31m";
    case Style::kWarning:
      return "\033[33m";
  }
  return "";
}

// Progress is decoration: a terminal that has gone away is no error.
void WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

Terminal Inspect(int fd, const Environment& environment) {
  Terminal terminal;
  if (isatty(fd) == 0) return terminal;
  terminal.width = 80;
  terminal.height = 24;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) terminal.width = size.ws_col;
    if (size.ws_row > 0) terminal.height = size.ws_row;
  }
  int columns = 0;
  if (absl::SimpleAtoi(environment("COLUMNS").value_or(""), &columns) && columns > 0) {
    terminal.width = columns;
  }
  bool dumb = environment("TERM").value_or("dumb") == "dumb";
  terminal.interactive = !dumb;
  terminal.colour = !dumb && environment("NO_COLOR").value_or("").empty();
  return terminal;
}

std::string Paint(absl::string_view text, Style style, bool colour) {
  if (!colour || style == Style::kPlain || text.empty()) return std::string(text);
  return absl::StrCat(StyleCode(style), text, "\033[0m");
}

void LiveArea::Show(absl::string_view block) {
  if (!terminal_.interactive) return;
  std::vector<absl::string_view> lines = absl::StrSplit(block, '\n');
  if (lines.back().empty()) lines.pop_back();
  // The line below the block holds the cursor; what scrolls off cannot be redrawn.
  lines.resize(std::min(lines.size(), static_cast<size_t>(std::max(terminal_.height - 1, 1))));
  std::string out;
  if (shown_lines_ > 0) absl::StrAppend(&out, "\033[", shown_lines_, "A");
  // Without automatic margins a long line takes one row only: the count stays true.
  absl::StrAppend(&out, "\r\033[J\033[?7l");
  for (absl::string_view line : lines) absl::StrAppend(&out, line, "\r\n");
  absl::StrAppend(&out, "\033[?7h");
  shown_lines_ = static_cast<int>(lines.size());
  WriteAll(fd_, out);
}

void LiveArea::Clear() {
  if (shown_lines_ == 0) return;
  WriteAll(fd_, absl::StrCat("\033[", shown_lines_, "A\r\033[J"));
  shown_lines_ = 0;
}

}  // namespace assay::term
