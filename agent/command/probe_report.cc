#include "agent/command/probe_report.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "common/build/version.h"
#include "common/term/table.h"
#include "common/term/width.h"
#include "core/document/units.h"
#include "core/evidence/derive.h"

namespace assay::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxErrors = 10;  // that a report repeats

// "OUTCOME_NOT_MEASURABLE" -> "not_measurable".
std::string LowerName(const std::string& name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string AddressOf(const v1::Evidence& evidence) {
  switch (evidence.kind_case()) {
    case v1::Evidence::kIcmp:
      return evidence.icmp().address();
    case v1::Evidence::kTcp:
      return evidence.tcp().address();
    case v1::Evidence::kHttp:
      return evidence.http().address();
    case v1::Evidence::KIND_NOT_SET:
      break;
  }
  return "";
}

// What curl said of failed requests, each text once: a summary only counts kinds of failure.
Json HttpErrors(const v1::HttpEvidence& evidence) {
  Json errors = Json::array();
  for (const v1::HttpSample& sample : evidence.samples()) {
    if (sample.error().empty()) continue;
    auto same = std::find_if(errors.begin(), errors.end(), [&sample](const Json& entry) {
      return entry["text"] == sample.error();
    });
    if (same != errors.end()) {
      (*same)["count"] = (*same)["count"].get<uint64_t>() + 1;
    } else if (errors.size() < kMaxErrors) {
      errors.push_back({{"text", sample.error()}, {"count", 1}});
    }
  }
  return errors;
}

// Of a result that carries evidence.
absl::Status AddMeasured(const v1::Result& result, Json& report) {
  ASSAY_ASSIGN_OR_RETURN(v1::Evidence evidence, evidence::Unpack(result.evidence_zstd()));
  ASSAY_ASSIGN_OR_RETURN(Json summary, evidence::Summarise(evidence));
  report["address"] = AddressOf(evidence);
  report["summary"] = std::move(summary);
  if (evidence.has_http()) report["errors"] = HttpErrors(evidence.http());
  return absl::OkStatus();
}

// What is only worth a line when it is not 0.
constexpr absl::string_view kQuietWhenZero[] = {"late",
                                                "duplicates",
                                                "reordered",
                                                "corrupted",
                                                "send_failures",
                                                "start_failures",
                                                "syn_retransmit_ratio",
                                                "loss_bursts.count",
                                                "loss_bursts.longest"};

bool IsQuiet(const std::string& key, const Json& value) {
  if (value.is_null() || (value.is_boolean() && !value.get<bool>())) return true;
  if ((value.is_array() || value.is_object()) && value.empty()) return true;
  bool zero = value.is_number() && value.get<double>() == 0;
  return zero && std::find(std::begin(kQuietWhenZero), std::end(kQuietWhenZero), key) !=
                     std::end(kQuietWhenZero);
}

// The catalogue's word for a key of a summary; the key itself where it has none.
std::string Label(Language language, const std::string& key) {
  std::string id = absl::StrCat("summary.", key);
  std::string text = Text(language, id);
  return text == id ? absl::StrReplaceAll(key, {{"_", " "}}) : text;
}

std::string FormatValue(absl::string_view key, const Json& value, Language language) {
  if (value.is_string()) return term::Printable(value.get<std::string>());
  if (value.is_boolean()) return Text(language, value.get<bool>() ? "summary.yes" : "summary.no");
  if (!value.is_number()) return term::Printable(value.dump());
  double number = value.get<double>();
  if (absl::EndsWith(key, "_ms")) {
    return document::FormatQuantity(number, v1::UNIT_MILLISECONDS);
  }
  if (absl::EndsWith(key, "_ratio")) return document::FormatQuantity(number, v1::UNIT_RATIO);
  if (absl::EndsWith(key, "_bytes_per_s")) {
    return document::FormatQuantity(number, v1::UNIT_BYTES_PER_SECOND);
  }
  return value.dump();
}

bool IsDistribution(const Json& value) { return value.is_object() && value.contains("median"); }

// "refused 3, timed_out 1".
std::string FormatCounts(const Json& counts) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : counts.items()) {
    parts.push_back(
        absl::StrCat(key, " ", value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return absl::StrJoin(parts, ", ");
}

// Label, value, in the order of the summary; distributions apart.
std::vector<std::pair<std::string, std::string>> Lines(const Json& summary, Language language) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [key, value] : summary.items()) {
    if (IsQuiet(key, value) || IsDistribution(value)) continue;
    if (!value.is_object()) {
      lines.emplace_back(Label(language, key), FormatValue(key, value, language));
    } else if (key == "loss_bursts") {
      for (const auto& [inner, number] : value.items()) {
        std::string path = absl::StrCat(key, ".", inner);
        if (!IsQuiet(path, number)) lines.emplace_back(Label(language, path), number.dump());
      }
    } else {
      lines.emplace_back(Label(language, key), FormatCounts(value));
    }
  }
  return lines;
}

std::string Distributions(const Json& summary, const term::Terminal& terminal, Language language) {
  std::vector<std::string> quantiles;  // every one that some distribution has, in order
  for (const auto& [key, value] : summary.items()) {
    if (!IsDistribution(value) || value["median"].is_null()) continue;
    for (const auto& [quantile, ignored] : value.items()) {
      if (std::find(quantiles.begin(), quantiles.end(), quantile) == quantiles.end()) {
        quantiles.push_back(quantile);
      }
    }
  }
  if (quantiles.empty()) return "";
  std::vector<term::Column> columns = {{""}};
  for (const std::string& quantile : quantiles) {
    columns.push_back({Label(language, quantile), term::Align::kRight});
  }
  term::Table table(columns);
  for (const auto& [key, value] : summary.items()) {
    if (!IsDistribution(value) || value["median"].is_null()) continue;
    std::vector<term::Cell> row = {Label(language, key)};
    for (const std::string& quantile : quantiles) {
      row.emplace_back(value.contains(quantile) ? FormatValue(key, value[quantile], language)
                                                : std::string());
    }
    table.AddRow(std::move(row));
  }
  return table.Render(terminal);
}

std::string Padded(const std::string& text, int width) {
  return absl::StrCat(text, std::string(std::max(width - term::DisplayWidth(text), 0), ' '));
}

void Flatten(const std::string& prefix, const Json& value, std::vector<std::string>& keys,
             std::vector<std::string>& values) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, inner] : value.items()) {
      Flatten(prefix.empty() ? key : absl::StrCat(prefix, ".", key), inner, keys, values);
    }
    return;
  }
  keys.push_back(prefix);
  if (value.is_null() || ((value.is_array() || value.is_object()) && value.empty())) {
    values.emplace_back();
  } else {
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> ReportJson(absl::string_view kind, absl::string_view target,
                                                  const v1::Result& result, Language language) {
  Json report;
  report["kind"] = std::string(kind);
  report["target"] = std::string(target);
  report["outcome"] = LowerName(v1::Outcome_Name(result.outcome()), "OUTCOME_");
  if (result.outcome() != v1::OUTCOME_OK) {
    report["reason"] = Render(language, result.reason());
    report["reason_id"] = result.reason().id();
  }
  report["address"] = "";
  absl::Time started = FromProto(result.started_at());
  report["started_at"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", started, absl::UTCTimeZone());
  report["duration_s"] = absl::ToDoubleSeconds(FromProto(result.finished_at()) - started);
  report["summary"] = nullptr;
  if (!result.evidence_zstd().empty()) ASSAY_RETURN_IF_ERROR(AddMeasured(result, report));
  report["marks"] = Json::array();
  for (int mark : result.marks()) {
    report["marks"].push_back(LowerName(v1::Mark_Name(static_cast<v1::Mark>(mark)), "MARK_"));
  }
  report["notes"] = Json::array();
  for (const v1::Message& note : result.notes()) report["notes"].push_back(Render(language, note));
  report["versions"] = {{"assay-agent", kVersion}};
  for (const auto& [tool, version] : result.versions()) report["versions"][tool] = version;
  return report;
}

std::string ReportText(const nlohmann::ordered_json& report, const term::Terminal& terminal,
                       Language language) {
  std::string target = term::Printable(report["target"].get<std::string>());
  std::string address = report["address"].get<std::string>();
  std::string title = absl::StrCat(report["kind"].get<std::string>(), " ", target);
  if (!address.empty() && address != target) absl::StrAppend(&title, " (", address, ")");
  std::string out = absl::StrCat(term::Paint(title, term::Style::kBold, terminal.colour), "\n");
  if (report["outcome"] != "ok") {
    std::string outcome =
        Text(language, absl::StrCat("summary.outcome_", report["outcome"].get<std::string>()));
    absl::StrAppend(&out, term::Paint(outcome, term::Style::kBad, terminal.colour),
                    Text(language, "summary.colon"),
                    term::Printable(report["reason"].get<std::string>()), "\n");
  }
  if (report["summary"].is_object()) {
    std::vector<std::pair<std::string, std::string>> lines = Lines(report["summary"], language);
    int width = 0;
    for (const auto& [label, value] : lines) width = std::max(width, term::DisplayWidth(label));
    for (const auto& [label, value] : lines) {
      absl::StrAppend(&out, Padded(label, width + 2), value, "\n");
    }
    absl::StrAppend(&out, Distributions(report["summary"], terminal, language));
  }
  for (const Json& error : report.value("errors", Json::array())) {
    absl::StrAppend(
        &out, term::Paint(Text(language, "summary.error"), term::Style::kBad, terminal.colour),
        Text(language, "summary.colon"), term::Printable(error["text"].get<std::string>()), " (",
        error["count"].dump(), ")\n");
  }
  for (const Json& note : report["notes"]) {
    absl::StrAppend(
        &out, term::Paint(Text(language, "summary.note"), term::Style::kWarning, terminal.colour),
        Text(language, "summary.colon"), term::Printable(note.get<std::string>()), "\n");
  }
  return out;
}

std::string ReportCsv(const nlohmann::ordered_json& report) {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  Flatten("", report, keys, values);
  return absl::StrCat(term::CsvRow(keys), term::CsvRow(values));
}

}  // namespace assay::command
