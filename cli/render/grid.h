// Rows of one kind of thing, as a table for people or CSV for programs. Headings of the table are
// in the reader's language; those of CSV are fixed words, and so are its values.
#ifndef ASSAY_CLI_RENDER_GRID_H_
#define ASSAY_CLI_RENDER_GRID_H_

#include <string>
#include <utility>
#include <vector>

#include "cli/render/view.h"
#include "common/term/table.h"

namespace assay::render {

// Numbers stand at the right.
inline constexpr term::Align kRight = term::Align::kRight;

struct GridColumn {
  enum class Where { kBoth, kTable, kCsv };
  std::string key;  // CSV's heading; the table's is the catalogue's "cli.column.<key>"
  term::Align align = term::Align::kLeft;
  term::Overflow overflow = term::Overflow::kTruncate;
  Where where = Where::kBoth;
};

struct GridCell {
  GridCell(std::string text) : text(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  GridCell(const char* text) : text(text) {}             // NOLINT(google-explicit-constructor)
  GridCell(std::string text, std::string machine, term::Style style = term::Style::kPlain)
      : text(std::move(text)), machine(std::move(machine)), differs(true), style(style) {}

  std::string text;
  std::string machine;  // where it differs from `text`
  bool differs = false;
  term::Style style = term::Style::kPlain;
};

class Grid {
 public:
  explicit Grid(std::vector<GridColumn> columns) : columns_(std::move(columns)) {}
  // One cell a column, in order.
  void AddRow(std::vector<GridCell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // By view.format; kJson is the caller's business and gives the table.
  std::string Render(const View& view) const;

 private:
  std::vector<GridColumn> columns_;
  std::vector<std::vector<GridCell>> rows_;
};

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_GRID_H_
