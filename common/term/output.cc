#include "common/term/output.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace assay::term {

absl::StatusOr<OutputFormat> ParseOutputFormat(absl::string_view name) {
  if (absl::EqualsIgnoreCase(name, "table")) return OutputFormat::kTable;
  if (absl::EqualsIgnoreCase(name, "json")) return OutputFormat::kJson;
  if (absl::EqualsIgnoreCase(name, "csv")) return OutputFormat::kCsv;
  return Error(absl::StatusCode::kInvalidArgument, "term.unknown_output",
               {{"value", std::string(name)}});
}

Environment SystemEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

absl::StatusOr<Language> ChooseLanguage(absl::string_view flag, const Environment& environment) {
  if (!flag.empty()) {
    if (absl::EqualsIgnoreCase(flag, "zh")) return Language::kChinese;
    if (absl::EqualsIgnoreCase(flag, "en")) return Language::kEnglish;
    return Error(absl::StatusCode::kInvalidArgument, "term.unknown_language",
                 {{"value", std::string(flag)}});
  }
  for (const char* name : {"ASSAY_LANG", "LC_ALL", "LC_MESSAGES", "LANG"}) {
    std::optional<std::string> value = environment(name);
    if (value.has_value() && !value->empty()) return ParseLanguage(*value);
  }
  return Language::kEnglish;
}

Language LanguageOfCommandLine(int argc, const char* const* argv, const Environment& environment) {
  absl::string_view flag;
  for (int i = 1; i < argc && absl::string_view(argv[i]) != "--"; ++i) {
    absl::string_view argument = argv[i];
    if (absl::ConsumePrefix(&argument, "--lang=")) {
      flag = argument;
    } else if (argument == "--lang" && i + 1 < argc) {
      flag = argv[++i];
    }
  }
  absl::StatusOr<Language> language = ChooseLanguage(flag, environment);
  if (!language.ok()) language = ChooseLanguage("", environment);
  return *language;
}

std::string CsvRow(const std::vector<std::string>& fields) {
  std::string row;
  const char* separator = "";
  for (const std::string& field : fields) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      absl::StrAppend(&row, separator, field);
    } else {
      absl::StrAppend(&row, separator, "\"", absl::StrReplaceAll(field, {{"\"", "\"\""}}), "\"");
    }
    separator = ",";
  }
  absl::StrAppend(&row, "\r\n");
  return row;
}

}  // namespace assay::term
