#include "cli/render/grid.h"

#include "absl/strings/str_cat.h"
#include "common/term/output.h"

namespace assay::render {

std::string Grid::Render(const View& view) const {
  const bool csv = view.format == term::OutputFormat::kCsv;
  const GridColumn::Where left_out = csv ? GridColumn::Where::kTable : GridColumn::Where::kCsv;
  if (csv) {
    std::vector<std::string> fields;
    for (const GridColumn& column : columns_) {
      if (column.where != left_out) fields.push_back(column.key);
    }
    std::string out = term::CsvRow(fields);
    for (const std::vector<GridCell>& row : rows_) {
      fields.clear();
      for (size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].where == left_out) continue;
        fields.push_back(row[i].differs ? row[i].machine : row[i].text);
      }
      absl::StrAppend(&out, term::CsvRow(fields));
    }
    return out;
  }
  std::vector<term::Column> headings;
  for (const GridColumn& column : columns_) {
    if (column.where == left_out) continue;
    headings.push_back(
        {view.Say(absl::StrCat("cli.column.", column.key)), column.align, column.overflow});
  }
  term::Table table(std::move(headings));
  for (const std::vector<GridCell>& row : rows_) {
    std::vector<term::Cell> cells;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].where != left_out) cells.emplace_back(row[i].text, row[i].style);
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(view.terminal);
}

}  // namespace assay::render
