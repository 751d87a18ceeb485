#include "cli/render/verdict.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/render/fields.h"
#include "cli/render/grid.h"
#include "cli/render/json.h"
#include "common/term/table.h"
#include "common/term/width.h"
#include "core/document/units.h"
#include "core/metric/catalogue.h"
#include "core/verdict/explain.h"
#include "core/verdict/json.h"

namespace assay::render {
namespace {

constexpr int kPageWidth = 100;  // in a pipe, and on wider terminals
constexpr int kReasonIndent = 4;

v1::Unit UnitOfCriterion(const v1::CriterionVerdict& criterion) {
  const metric::MetricInfo* info = metric::Find(criterion.criterion().metric());
  return info == nullptr ? v1::UNIT_UNSPECIFIED : info->unit;
}

std::string Quantity(double value, v1::Unit unit) {
  if (std::isinf(value)) return value > 0 ? "∞" : "-∞";
  return document::FormatQuantity(value, unit);
}

// "0.03 – 0.4 %": the unit once where both ends have the same.
std::string Interval(const v1::GroupVerdict& group, v1::Unit unit) {
  if (!group.has_value()) return "-";
  std::string low = Quantity(group.interval_low(), unit);
  std::string high = Quantity(group.interval_high(), unit);
  std::vector<std::string> a = absl::StrSplit(low, ' '), b = absl::StrSplit(high, ' ');
  if (a.size() == 2 && b.size() == 2 && a[1] == b[1]) low = a[0];
  return absl::StrCat(low, " – ", high);
}

std::string Limit(const v1::CriterionVerdict& criterion) {
  const char* sign = criterion.criterion().comparison() == v1::COMPARISON_AT_LEAST ? "≥ " : "≤ ";
  return absl::StrCat(sign, Quantity(criterion.threshold(), UnitOfCriterion(criterion)));
}

// "300", or "300 (210)" with the effective number where it is less.
std::string Samples(const v1::GroupVerdict& group) {
  auto effective = static_cast<uint64_t>(std::floor(group.effective_samples() + 1e-9));
  if (!group.has_value() || effective >= group.samples()) return absl::StrCat(group.samples());
  return absl::StrCat(group.samples(), " (", effective, ")");
}

term::Style DecisionStyle(v1::CriterionDecision decision) {
  switch (decision) {
    case v1::CRITERION_DECISION_PASS:
      return term::Style::kGood;
    case v1::CRITERION_DECISION_FAIL:
      return term::Style::kBad;
    default:
      return term::Style::kWarning;
  }
}

const char* Sign(v1::CriterionDecision decision) {
  switch (decision) {
    case v1::CRITERION_DECISION_PASS:
      return "✓ ";
    case v1::CRITERION_DECISION_FAIL:
      return "✗ ";
    default:
      return "? ";
  }
}

struct Row {
  const v1::CriterionVerdict* criterion;
  const v1::GroupVerdict* group;  // nullptr: the criterion has none
};

std::vector<Row> RowsOf(const v1::Verdict& verdict) {
  std::vector<Row> rows;
  for (const v1::CriterionVerdict& criterion : verdict.criteria()) {
    if (criterion.groups().empty()) rows.push_back({&criterion, nullptr});
    for (const v1::GroupVerdict& group : criterion.groups()) rows.push_back({&criterion, &group});
  }
  return rows;
}

// "peak-loss", "jitter (should)".
std::string CriterionName(const v1::Criterion& criterion, const View& view) {
  if (criterion.severity() == v1::SEVERITY_MUST ||
      criterion.severity() == v1::SEVERITY_UNSPECIFIED) {
    return criterion.id();
  }
  return absl::StrCat(criterion.id(), " (", EnumText(criterion.severity(), view), ")");
}

std::string OrAll(const std::string& name, const View& view) {
  return name.empty() ? view.Say("cli.all") : name;
}

const v1::Message& MessageOf(const Row& row) {
  const bool own = row.group != nullptr && row.group->has_reason();
  return own ? row.group->reason() : row.criterion->reason();
}

// The sentence without what stands in the row above it ("cli.why.<id>"), where there is one.
v1::Message Shortened(const v1::Message& reason) {
  std::string id = absl::StrCat("cli.why.", absl::StripPrefix(reason.id(), "verdict."));
  for (const CatalogueEntry& entry : Catalogue()) {
    if (id != entry.id) continue;
    v1::Message shortened = reason;
    shortened.set_id(id);
    return shortened;
  }
  return reason;
}

// In the table: short, with what would decide it and the notes.
std::string WhyOf(const Row& row, const View& view) {
  std::string reason = view.Say(Shortened(MessageOf(row)));
  if (row.group == nullptr) return reason;
  if (row.group->runs_to_decide() > 0) {
    absl::StrAppend(
        &reason, view.Say("cli.why_separator"),
        view.Say("cli.why_more", {{"runs", absl::StrCat(row.group->runs_to_decide())}}));
  }
  for (const v1::Message& note : row.group->notes()) {
    absl::StrAppend(&reason, view.Say("cli.why_separator"), view.Say(note));
  }
  return reason;
}

std::string ReasonOf(const Row& row, const View& view) {
  std::string reason = view.Say(MessageOf(row));
  if (row.group != nullptr) {
    for (const v1::Message& note : row.group->notes()) {
      absl::StrAppend(&reason, view.Say("cli.why_separator"), view.Say(note));
    }
  }
  return reason;
}

// The table's lines with each row's reason under it.
std::string VerdictTable(const v1::Verdict& verdict, const View& view) {
  term::Table table({{view.Say("cli.column.criterion")},
                     {view.Say("cli.column.vantage")},
                     {view.Say("cli.column.window")},
                     {view.Say("cli.column.figure"), kRight},
                     {view.Say("cli.column.interval")},
                     {view.Say("cli.column.threshold"), kRight},
                     {view.Say("cli.column.samples_effective"), kRight},
                     {view.Say("cli.column.decision")}});
  std::vector<Row> rows = RowsOf(verdict);
  for (const Row& row : rows) {
    v1::Unit unit = UnitOfCriterion(*row.criterion);
    const v1::GroupVerdict none;
    const v1::GroupVerdict& group = row.group == nullptr ? none : *row.group;
    v1::CriterionDecision decision =
        row.group == nullptr ? row.criterion->decision() : group.decision();
    table.AddRow({CriterionName(row.criterion->criterion(), view),
                  row.group == nullptr ? "-" : OrAll(group.vantage(), view),
                  row.group == nullptr ? "-" : OrAll(group.window(), view),
                  group.has_value() ? Quantity(group.value(), unit) : "-",
                  Interval(group, unit),
                  Limit(*row.criterion),
                  row.group == nullptr ? "0" : Samples(group),
                  {Sign(decision) + verdict::DecisionWord(decision, view.language),
                   DecisionStyle(decision)}});
  }
  const int width = view.terminal.width;
  bool shortened = false;
  for (absl::string_view line : absl::StrSplit(table.Render(0, false), '\n')) {
    shortened = shortened || term::DisplayWidth(line) > width;
  }
  std::vector<std::string> lines =
      absl::StrSplit(table.Render(width, view.terminal.colour), '\n', absl::SkipEmpty());
  std::string out = lines[0] + "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    absl::StrAppend(&out, lines[i + 1], "\n");
    std::string reason = WhyOf(rows[i], view);
    if (shortened) {
      std::vector<std::string> names = {rows[i].criterion->criterion().id()};
      if (rows[i].group != nullptr && !rows[i].group->vantage().empty()) {
        names.push_back(rows[i].group->vantage());
      }
      if (rows[i].group != nullptr && !rows[i].group->window().empty()) {
        names.push_back(rows[i].group->window());
      }
      reason = absl::StrCat(absl::StrJoin(names, " · "), ": ", reason);
    }
    absl::StrAppend(&out, Indented(reason, kReasonIndent, term::Style::kDim, view));
  }
  return out;
}

std::string DecisionLine(const v1::Verdict& verdict, const View& view) {
  std::string line =
      view.Say("cli.verdict_line",
               {{"decision", verdict::DecisionWord(verdict.decision(), view.language)},
                {"reason", verdict.has_reason() ? view.Say(verdict.reason()) : verdict.server()}});
  std::string out;
  for (const std::string& part : term::Wrap(line, view.terminal.width)) {
    absl::StrAppend(&out, term::Paint(part, term::Style::kBold, view.terminal.colour), "\n");
  }
  return out;
}

std::string Csv(const v1::Verdict& verdict, const View& view) {
  auto number = [](double value) {
    return std::isfinite(value) ? absl::StrFormat("%.12g", value) : std::string();
  };
  std::string out = term::CsvRow({"server",
                                  "run",
                                  "server_decision",
                                  "criterion",
                                  "severity",
                                  "metric",
                                  "statistic",
                                  "vantage",
                                  "window",
                                  "decision",
                                  "value",
                                  "interval_low",
                                  "interval_high",
                                  "threshold",
                                  "unit",
                                  "samples",
                                  "effective_samples",
                                  "runs",
                                  "days",
                                  "runs_to_decide",
                                  "reason"});
  for (const Row& row : RowsOf(verdict)) {
    const v1::CriterionVerdict& criterion = *row.criterion;
    const v1::GroupVerdict none;
    const v1::GroupVerdict& group = row.group == nullptr ? none : *row.group;
    const bool has = group.has_value();
    absl::StrAppend(
        &out,
        term::CsvRow({verdict.server(),
                      verdict.run(),
                      EnumName(verdict.decision()),
                      criterion.criterion().id(),
                      EnumName(criterion.criterion().severity()),
                      criterion.criterion().metric(),
                      EnumName(criterion.criterion().statistic()),
                      group.vantage(),
                      group.window(),
                      EnumName(row.group == nullptr ? criterion.decision() : group.decision()),
                      has ? number(group.value()) : "",
                      has ? number(group.interval_low()) : "",
                      has ? number(group.interval_high()) : "",
                      number(criterion.threshold()),
                      criterion.unit(),
                      absl::StrCat(group.samples()),
                      number(group.effective_samples()),
                      absl::StrCat(group.runs()),
                      absl::StrCat(group.days()),
                      absl::StrCat(group.runs_to_decide()),
                      ReasonOf(row, view)}));
  }
  return out;
}

}  // namespace

std::string Verdict(const v1::Verdict& verdict, bool explain, const View& given) {
  View view = given;
  if (view.format == term::OutputFormat::kJson) {
    return Pretty(verdict::ToJson(verdict, view.language));
  }
  if (view.format == term::OutputFormat::kCsv) return Csv(verdict, view);
  if (view.terminal.width <= 0 || view.terminal.width > kPageWidth) {
    view.terminal.width = kPageWidth;
  }
  std::string out = term::Paint(
      view.Say("cli.verdict_heading",
               {{"server", verdict.server()}, {"run", verdict.run()}, {"plan", verdict.plan()}}),
      term::Style::kBold, view.terminal.colour);
  absl::StrAppend(&out, "\n\n");
  if (!verdict.criteria().empty()) absl::StrAppend(&out, VerdictTable(verdict, view), "\n");
  if (explain) {
    for (const std::string& line : verdict::ExplainLines(verdict, view.language)) {
      absl::string_view body = absl::StripLeadingAsciiWhitespace(line);
      absl::StrAppend(&out, Indented(body, static_cast<int>(line.size() - body.size()),
                                     term::Style::kPlain, view));
    }
    absl::StrAppend(&out, "\n");
  }
  for (const v1::Message& note : verdict.notes()) {
    absl::StrAppend(&out, Warning(view.Say(note), view));
  }
  uint32_t lost = verdict.tasks_failed() + verdict.tasks_missed() + verdict.tasks_cancelled();
  if (lost + verdict.tasks_open() > 0) {
    absl::StrAppend(&out, Warning(view.Say("cli.verdict_tasks",
                                           {{"done", absl::StrCat(verdict.tasks_done())},
                                            {"failed", absl::StrCat(verdict.tasks_failed())},
                                            {"missed", absl::StrCat(verdict.tasks_missed())},
                                            {"cancelled", absl::StrCat(verdict.tasks_cancelled())},
                                            {"open", absl::StrCat(verdict.tasks_open())}}),
                                  view));
  }
  absl::StrAppend(&out, DecisionLine(verdict, view));
  return out;
}

int ExitCode(v1::ServerDecision decision) {
  if (decision == v1::SERVER_DECISION_ACCEPTED) return 0;
  return decision == v1::SERVER_DECISION_REJECTED ? 1 : 3;
}

}  // namespace assay::render
