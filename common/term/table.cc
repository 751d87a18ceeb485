#include "common/term/table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/term/width.h"

namespace assay::term {
namespace {

constexpr int kGap = 2;
constexpr int kNarrowest = 4;      // of any column that is narrowed
constexpr int kReadableWrap = 24;  // of a column that wraps, before others are narrowed too

std::string Aligned(const std::string& text, int width, Align align) {
  std::string padding(static_cast<size_t>(std::max(width - DisplayWidth(text), 0)), ' ');
  return align == Align::kLeft ? text + padding : padding + text;
}

// Takes `excess` columns off, one at a time from the widest that may give; returns what is left.
int Narrow(std::vector<int>& widths, const std::vector<bool>& may_give, int narrowest, int excess) {
  for (; excess > 0; --excess) {
    int widest = -1;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (!may_give[i] || widths[i] <= narrowest) continue;
      if (widest < 0 || widths[i] > widths[widest]) widest = static_cast<int>(i);
    }
    if (widest < 0) break;
    --widths[widest];
  }
  return excess;
}

}  // namespace

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<int> Table::FitWidths(int width) const {
  std::vector<int> widths;
  std::vector<bool> wraps;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int widest = DisplayWidth(columns_[i].header);
    for (const std::vector<Cell>& row : rows_) widest = std::max(widest, DisplayWidth(row[i].text));
    widths.push_back(widest);
    wraps.push_back(columns_[i].overflow == Overflow::kWrap);
  }
  if (width <= 0 || widths.empty()) return widths;
  int gaps = kGap * (static_cast<int>(widths.size()) - 1);
  int excess = std::accumulate(widths.begin(), widths.end(), gaps) - width;
  excess = Narrow(widths, wraps, kReadableWrap, excess);
  Narrow(widths, std::vector<bool>(widths.size(), true), kNarrowest, excess);
  return widths;
}

std::string Table::Render(int width, bool colour) const {
  std::vector<int> widths = FitWidths(width);
  std::string out;
  // One row: each cell becomes one or more lines, and the row is as high as its highest cell.
  auto append = [&](const std::vector<Cell>& cells) {
    std::vector<std::vector<std::string>> lines;
    size_t height = 1;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].overflow == Overflow::kWrap) {
        lines.push_back(Wrap(cells[i].text, widths[i]));
      } else {
        lines.push_back({Truncate(cells[i].text, widths[i])});
      }
      height = std::max(height, lines.back().size());
    }
    for (size_t h = 0; h < height; ++h) {
      std::string line;
      int pending = 0;  // columns of space owed before the next text
      for (size_t i = 0; i < cells.size(); ++i) {
        std::string text = h < lines[i].size() ? lines[i][h] : "";
        std::string aligned = Aligned(text, widths[i], columns_[i].align);
        absl::string_view left = absl::StripTrailingAsciiWhitespace(aligned);
        if (!left.empty()) {
          absl::string_view body = absl::StripLeadingAsciiWhitespace(left);
          absl::StrAppend(&line, std::string(pending + left.size() - body.size(), ' '),
                          Paint(body, cells[i].style, colour));
          pending = 0;
        }
        pending += widths[i] - DisplayWidth(left) + kGap;
      }
      absl::StrAppend(&out, line, "\n");
    }
  };
  std::vector<Cell> header;
  for (const Column& column : columns_) header.emplace_back(column.header, Style::kBold);
  append(header);
  for (const std::vector<Cell>& row : rows_) append(row);
  return out;
}

std::string Table::RenderCsv() const {
  std::vector<std::string> fields;
  for (const Column& column : columns_) fields.push_back(column.header);
  std::string out = CsvRow(fields);
  for (const std::vector<Cell>& row : rows_) {
    fields.clear();
    for (const Cell& cell : row) fields.push_back(cell.text);
    absl::StrAppend(&out, CsvRow(fields));
  }
  return out;
}

}  // namespace assay::term
