// What stands behind a file descriptor, colour, and output that is redrawn in place.
#ifndef ASSAY_COMMON_TERM_TERMINAL_H_
#define ASSAY_COMMON_TERM_TERMINAL_H_

#include <string>

#include "absl/strings/string_view.h"
#include "common/term/output.h"

namespace assay::term {

struct Terminal {
  bool interactive = false;  // a terminal that can move its cursor
  int width = 0;             // columns; 0: no limit (a pipe or a file)
  int height = 0;            // lines; 0 where there is no width
  bool colour = false;       // off where NO_COLOR is set and not empty (https://no-color.org)
};

// COLUMNS overrides the width of a terminal; TERM=dumb turns off colour and redrawing.
Terminal Inspect(int fd, const Environment& environment);

enum class Style { kPlain, kBold, kDim, kGood, kBad, kWarning };

// `text` in the style where `colour` is set, else `text` itself.
std::string Paint(absl::string_view text, Style style, bool colour);

// A block of lines at the bottom of the terminal that is redrawn in place: progress. Writes nothing
// at all where the terminal is not interactive. Use from one thread, and write nothing else to the
// terminal between Show() and Clear().
class LiveArea {
 public:
  LiveArea(int fd, const Terminal& terminal) : fd_(fd), terminal_(terminal) {}
  ~LiveArea() { Clear(); }
  LiveArea(const LiveArea&) = delete;
  LiveArea& operator=(const LiveArea&) = delete;

  // Replaces what is shown. Lines end at the terminal's edge; of a block that is higher than the
  // terminal the first lines are shown. Colour by Paint() is allowed in it.
  void Show(absl::string_view block);
  // Removes what is shown: ordinary output may follow.
  void Clear();

 private:
  const int fd_;
  const Terminal terminal_;
  int shown_lines_ = 0;
};

}  // namespace assay::term

#endif  // ASSAY_COMMON_TERM_TERMINAL_H_
