// Tables for people: aligned by display width, fitted to the terminal.
#ifndef ASSAY_COMMON_TERM_TABLE_H_
#define ASSAY_COMMON_TERM_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/term/terminal.h"

namespace assay::term {

enum class Align { kLeft, kRight };
// What happens to a cell that is wider than its column may be.
enum class Overflow { kTruncate, kWrap };

struct Column {
  std::string header;
  Align align = Align::kLeft;
  Overflow overflow = Overflow::kTruncate;
};

struct Cell {
  Cell() = default;
  Cell(std::string text, Style style = Style::kPlain)  // NOLINT(google-explicit-constructor)
      : text(std::move(text)), style(style) {}
  Cell(const char* text, Style style = Style::kPlain)  // NOLINT(google-explicit-constructor)
      : text(text), style(style) {}
  Cell(absl::string_view text, Style style = Style::kPlain)  // NOLINT(google-explicit-constructor)
      : text(text), style(style) {}

  std::string text;
  Style style = Style::kPlain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty; cells beyond the last column are dropped.
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  // Header and rows, two spaces between columns, no trailing spaces, each line ended by '\n'.
  // `width` 0: as wide as the content. Otherwise columns that wrap are narrowed first, then the
  // widest ones, until the table fits; below 4 columns of text a column is not narrowed, so that a
  // table with very many columns may still be wider than the terminal.
  std::string Render(int width, bool colour) const;
  std::string Render(const Terminal& terminal) const {
    return Render(terminal.width, terminal.colour);
  }

  // The same content as RFC 4180, header first, nothing cut.
  std::string RenderCsv() const;

 private:
  std::vector<int> FitWidths(int width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace assay::term

#endif  // ASSAY_COMMON_TERM_TABLE_H_
