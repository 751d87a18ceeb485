// How a command prints: the format, and the reader's language.
#ifndef ASSAY_COMMON_TERM_OUTPUT_H_
#define ASSAY_COMMON_TERM_OUTPUT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/message.h"

namespace assay::term {

enum class OutputFormat { kTable, kJson, kCsv };

// "table", "json", "csv", in any case; INVALID_ARGUMENT otherwise.
absl::StatusOr<OutputFormat> ParseOutputFormat(absl::string_view name);

// Value of an environment variable; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
// The process's own.
Environment SystemEnvironment();

// `flag` is the value of --lang ("" where it was not given): "zh" or "en", INVALID_ARGUMENT
// otherwise. Without it the first of ASSAY_LANG, LC_ALL, LC_MESSAGES and LANG that is set and not
// empty decides.
absl::StatusOr<Language> ChooseLanguage(absl::string_view flag, const Environment& environment);

// The same from a command line that has not been parsed yet: help and complaints need a language
// too. A --lang that is not understood, and one behind "--", does not count.
Language LanguageOfCommandLine(int argc, const char* const* argv, const Environment& environment);

// One record of RFC 4180, with its CR LF: a field with a comma, a double quote or a line break is
// quoted. The format has no way to say a number from a text; empty means absent.
std::string CsvRow(const std::vector<std::string>& fields);

}  // namespace assay::term

#endif  // ASSAY_COMMON_TERM_OUTPUT_H_
