#include "cli/render/results.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/render/fields.h"
#include "cli/render/grid.h"
#include "cli/render/json.h"
#include "core/document/units.h"
#include "core/evidence/derive.h"
#include "core/metric/catalogue.h"
#include "nlohmann/json.hpp"

namespace assay::render {
namespace {

// What says most about a probe, in this order.
constexpr const char* kHeadlineMetrics[] = {
    "icmp.loss_ratio",    "icmp.rtt_ms",        "tcp.failure_ratio", "tcp.connect_ms",
    "http.failure_ratio", "http.first_byte_ms", "http.total_ms"};
constexpr size_t kOtherFigures = 2;  // of a probe that is not in the list

v1::Unit UnitOf(const std::string& metric) {
  const metric::MetricInfo* info = metric::Find(metric);
  return info == nullptr ? v1::UNIT_UNSPECIFIED : info->unit;
}

// Nearest-rank quantile of a copy (the view is not a statistic: verdicts have core/statistics).
double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  auto rank = static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  return values[rank];
}

std::vector<double> Values(const v1::Metric& metric) {
  return {metric.samples().values().begin(), metric.samples().values().end()};
}

// "0.5 %", or the median; "" without a sample.
std::string Figure(const v1::Metric& metric) {
  v1::Unit unit = UnitOf(metric.name());
  if (metric.has_proportion()) {
    const v1::Metric::Proportion& proportion = metric.proportion();
    if (proportion.trials() == 0) return "";
    return document::FormatQuantity(
        static_cast<double>(proportion.events()) / static_cast<double>(proportion.trials()), unit);
  }
  std::vector<double> values = Values(metric);
  return values.empty() ? "" : document::FormatQuantity(Quantile(values, 0.5), unit);
}

std::string Marks(const google::protobuf::RepeatedField<int>& marks, const View& view) {
  std::vector<std::string> words;
  for (int mark : marks) words.push_back(EnumText(static_cast<v1::Mark>(mark), view));
  return absl::StrJoin(words, ", ");
}

std::string MetricTable(const v1::StoredResult& result, const View& view) {
  Grid grid({{"metric"},
             {"figure", kRight},
             {"p95", kRight},
             {"least", kRight},
             {"most", kRight},
             {"samples", kRight},
             {"marks"}});
  for (const v1::Metric& metric : result.metrics()) {
    v1::Unit unit = UnitOf(metric.name());
    std::vector<double> values = Values(metric);
    auto at = [&](double q) {
      return values.empty() ? "" : document::FormatQuantity(Quantile(values, q), unit);
    };
    std::string samples = metric.has_proportion() ? absl::StrCat(metric.proportion().events(), "/",
                                                                 metric.proportion().trials())
                                                  : absl::StrCat(values.size());
    grid.AddRow({metric.name(),
                 Figure(metric),
                 at(0.95),
                 at(0),
                 at(1),
                 samples,
                 {Marks(metric.marks(), view), "", term::Style::kWarning}});
  }
  return grid.empty() ? "" : grid.Render(view);
}

// "rtt_ms.median  12.3": the summary's leaves.
void Flatten(const nlohmann::ordered_json& json, const std::string& path,
             std::vector<std::pair<std::string, std::string>>& lines) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      Flatten(value, path.empty() ? key : absl::StrCat(path, ".", key), lines);
    }
  } else if (json.is_array() && !json.empty() && json.front().is_structured()) {
    for (size_t i = 0; i < json.size(); ++i)
      Flatten(json[i], absl::StrCat(path, "[", i, "]"), lines);
  } else if (json.is_string()) {
    lines.emplace_back(path, json.get<std::string>());
  } else if (json.is_number_float()) {
    lines.emplace_back(path, absl::StrFormat("%.4g", json.get<double>()));
  } else if (!json.is_null()) {
    lines.emplace_back(path, json.dump());
  }
}

absl::StatusOr<nlohmann::ordered_json> Summary(const v1::StoredResult& result) {
  if (!result.has_evidence() || result.evidence().kind_case() == v1::Evidence::KIND_NOT_SET) {
    return absl::NotFoundError("no evidence");
  }
  return evidence::Summarise(result.evidence());
}

}  // namespace

std::string Headline(const v1::StoredResult& stored, const View& view) {
  if (stored.result().outcome() != v1::OUTCOME_OK) {
    return stored.result().has_reason() ? view.Say(stored.result().reason())
                                        : EnumText(stored.result().outcome(), view);
  }
  std::map<std::string, std::string> known;
  std::vector<std::string> others;
  for (const v1::Metric& metric : stored.metrics()) {
    std::string figure = Figure(metric);
    if (figure.empty()) continue;
    // Without the probe's name, which stands beside it: "loss_ratio 0 %".
    known[metric.name()] =
        absl::StrCat(metric.name().substr(metric.name().find('.') + 1), " ", figure);
    if (others.size() < kOtherFigures) others.push_back(known[metric.name()]);
  }
  std::vector<std::string> figures;
  for (const char* name : kHeadlineMetrics) {
    if (known.count(name) > 0) figures.push_back(known[name]);
  }
  if (figures.empty()) figures = std::move(others);
  return absl::StrJoin(figures, ", ");
}

std::string Results(const v1::ListResultsResponse& results, const View& view) {
  if (view.format == term::OutputFormat::kJson) return Pretty(ToJson(results, view.language));
  if (results.results().empty() && view.format == term::OutputFormat::kTable) {
    return view.Say("cli.no_results") + "\n";
  }
  Grid grid({{"result", kRight},
             {"measured"},
             {"run", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
             {"path", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kTable},
             {"vantage", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
             {"server", term::Align::kLeft, term::Overflow::kTruncate, GridColumn::Where::kCsv},
             {"probe"},
             {"window"},
             {"outcome"},
             {"figures", term::Align::kLeft, term::Overflow::kWrap}});
  for (const v1::StoredResult& stored : results.results()) {
    v1::Outcome outcome = stored.result().outcome();
    term::Style style = outcome == v1::OUTCOME_OK       ? term::Style::kGood
                        : outcome == v1::OUTCOME_FAILED ? term::Style::kBad
                                                        : term::Style::kWarning;
    grid.AddRow({absl::StrCat(stored.id()),
                 {FormatTime(stored.result().started_at(), view),
                  MachineTime(stored.result().started_at())},
                 stored.ref().run(),
                 stored.vantage().empty() ? stored.server()
                                          : absl::StrCat(stored.vantage(), " → ", stored.server()),
                 stored.vantage(),
                 stored.server(),
                 stored.probe(),
                 stored.window(),
                 {EnumText(outcome, view), EnumName(outcome), style},
                 Headline(stored, view)});
  }
  return grid.Render(view);
}

std::string Result(const v1::StoredResult& stored, const View& view) {
  absl::StatusOr<nlohmann::ordered_json> summary = Summary(stored);
  if (view.format == term::OutputFormat::kJson) {
    // The evidence itself is there: no need for its compressed form.
    v1::StoredResult readable = stored;
    if (readable.has_evidence()) readable.mutable_result()->clear_evidence_zstd();
    nlohmann::ordered_json json = ToJson(readable, view.language);
    if (summary.ok()) json["summary"] = *summary;
    return Pretty(json);
  }
  if (view.format == term::OutputFormat::kCsv) {
    v1::ListResultsResponse one;
    *one.add_results() = stored;
    return Results(one, view);
  }
  const v1::Result& result = stored.result();
  Fields fields;
  fields.Add("result", absl::StrCat(stored.id()));
  fields.Add("outcome", EnumText(result.outcome(), view));
  if (result.has_reason()) fields.Add("reason", view.Say(result.reason()));
  fields.Add("run", stored.ref().run());
  fields.Add("task",
             view.Say("cli.task_attempt", {{"task", absl::StrCat(stored.ref().task())},
                                           {"attempt", absl::StrCat(stored.ref().attempt())}}));
  fields.Add("path", stored.vantage().empty()
                         ? stored.server()
                         : absl::StrCat(stored.vantage(), " → ", stored.server()));
  fields.Add("probe", stored.probe());
  fields.Add("window", stored.window());
  fields.Add("measured", FormatTime(result.started_at(), view));
  fields.Add("finished", FormatTime(result.finished_at(), view));
  fields.Add("received", FormatTime(stored.received_at(), view));
  if (result.has_clock()) {
    fields.Add(
        "clock_offset",
        absl::StrFormat("%+.3f ms ± %.3f ms",
                        absl::ToDoubleMilliseconds(FromProto(result.clock().offset())),
                        absl::ToDoubleMilliseconds(FromProto(result.clock().error_bound()))));
  }
  fields.Add("origin", EnumText(result.origin(), view));
  fields.Add("marks", Marks(result.marks(), view));
  std::vector<std::string> versions;
  for (const auto& [name, version] : result.versions()) {
    versions.push_back(absl::StrCat(name, " ", version));
  }
  std::sort(versions.begin(), versions.end());
  fields.Add("versions", absl::StrJoin(versions, ", "));
  fields.Add("agent", stored.agent_id());
  fields.Add("evidence_sha256", stored.evidence_sha256());
  std::string out = fields.Render(view);
  for (const v1::Message& note : result.notes()) {
    absl::StrAppend(&out, Warning(view.Say(note), view));
  }
  std::string metrics = MetricTable(stored, view);
  if (!metrics.empty()) absl::StrAppend(&out, "\n", metrics);
  if (summary.ok()) {
    std::vector<std::pair<std::string, std::string>> lines;
    Flatten(*summary, "", lines);
    term::Table table({{view.Say("cli.column.summary")}, {""}});
    for (auto& [key, value] : lines) table.AddRow({key, value});
    absl::StrAppend(&out, "\n", table.Render(view.terminal));
  }
  return out;
}

}  // namespace assay::render
