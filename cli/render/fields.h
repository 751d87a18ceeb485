// One thing as "heading: value" lines, or one record of CSV; and the lines between tables.
#ifndef ASSAY_CLI_RENDER_FIELDS_H_
#define ASSAY_CLI_RENDER_FIELDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cli/render/view.h"

namespace assay::render {

class Fields {
 public:
  // `key` is CSV's heading; the reader's is the catalogue's "cli.column.<key>".
  void Add(std::string key, std::string text) { Add(std::move(key), text, text); }
  void Add(std::string key, std::string text, std::string machine) {
    entries_.push_back({std::move(key), std::move(text), std::move(machine)});
  }
  // Lines with values aligned, empty ones left out; or CSV.
  std::string Render(const View& view) const;

 private:
  struct Entry {
    std::string key, text, machine;
  };
  std::vector<Entry> entries_;
};

// "! hk-gpu-01: its clock is off", painted, wrapped to the terminal.
std::string Warning(absl::string_view about, absl::string_view text, const View& view);
std::string Warning(absl::string_view text, const View& view);

// `text` in lines that fit the terminal, each after `indent` spaces.
std::string Indented(absl::string_view text, int indent, term::Style style, const View& view);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_FIELDS_H_
