#include "core/verdict/judge.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/message.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/document/units.h"
#include "core/metric/catalogue.h"
#include "core/verdict/figure.h"
#include "core/verdict/words.h"
#include "core/window/window.h"

namespace assay::verdict {
namespace {

// A criterion with everything that its groups share.
struct Question {
  const VerdictInput& input;
  v1::Criterion criterion;  // defaults filled in
  v1::Unit unit = v1::UNIT_UNSPECIFIED;
  double threshold = 0;
};

struct Usage {
  const Observation* observation;
  const v1::Metric* metric;
};

// The results of one group by what they are good for.
struct Sorted {
  std::vector<Usage> clean;
  std::vector<Usage> cached;  // marked, with nothing worse than MARK_CACHED
  std::vector<Usage> spoilt;  // any other mark
  std::set<v1::Mark> marks;
  uint32_t useless = 0;  // not OK, or contradicting themselves
  v1::Message first_useless;
  uint32_t empty = 0;  // measured, but nothing that this metric counts
  std::vector<Cell> used;
  std::vector<Cell> missing;  // cells without a clean figure
};

std::set<v1::Mark> MarksOf(const Observation& observation, const v1::Metric& metric) {
  std::set<v1::Mark> marks(observation.marks.begin(), observation.marks.end());
  for (int mark : metric.marks()) marks.insert(static_cast<v1::Mark>(mark));
  marks.erase(v1::MARK_UNSPECIFIED);
  return marks;
}

const v1::Metric* FindMetric(const Observation& observation, const std::string& name) {
  for (const v1::Metric& metric : observation.metrics) {
    if (metric.name() == name) return &metric;
  }
  return nullptr;
}

void AddUseless(const v1::Message& reason, Sorted* sorted) {
  if (sorted->useless++ == 0) sorted->first_useless = reason;
}

void SortObservation(const Question& question, const Observation& observation, Sorted* sorted) {
  if (observation.outcome != v1::OUTCOME_OK) {
    return AddUseless(observation.reason, sorted);
  }
  const v1::Metric* metric = FindMetric(observation, question.criterion.metric());
  const Usable usable =
      metric == nullptr ? Usable::kEmpty : Check(*metric, question.criterion.statistic());
  if (usable == Usable::kEmpty) {
    ++sorted->empty;
    return;
  }
  if (usable == Usable::kInvalid) {
    return AddUseless(
        MakeMessage("verdict.bad_figures", {{"result", absl::StrCat(observation.result_id)},
                                            {"metric", question.criterion.metric()}}),
        sorted);
  }
  const std::set<v1::Mark> marks = MarksOf(observation, *metric);
  sorted->marks.insert(marks.begin(), marks.end());
  if (marks.empty()) {
    sorted->clean.push_back({&observation, metric});
  } else if (marks.size() == 1 && *marks.begin() == v1::MARK_CACHED) {
    sorted->cached.push_back({&observation, metric});
  } else {
    sorted->spoilt.push_back({&observation, metric});
  }
}

Sorted SortGroup(const Question& question, const ObservationIndex& index, const Group& group) {
  // By result id over all cells, so that "the first reason" does not depend on names.
  std::vector<const Observation*> observations;
  for (const Cell& cell : group.cells) {
    auto found = index.find(cell);
    if (found == index.end()) continue;
    observations.insert(observations.end(), found->second.begin(), found->second.end());
  }
  std::sort(observations.begin(), observations.end(),
            [](const auto* a, const auto* b) { return a->result_id < b->result_id; });
  Sorted sorted;
  for (const Observation* observation : observations) {
    SortObservation(question, *observation, &sorted);
  }
  std::set<Cell> covered;
  for (const Usage& usage : sorted.clean) {
    covered.insert(
        {usage.observation->vantage, usage.observation->window, usage.observation->probe});
  }
  for (const Cell& cell : group.cells) {
    (covered.count(cell) > 0 ? sorted.used : sorted.missing).push_back(cell);
  }
  return sorted;
}

uint32_t DaysOf(const std::vector<Usage>& usages) {
  std::set<absl::CivilDay> days;
  for (const Usage& usage : usages) days.insert(usage.observation->day);
  return static_cast<uint32_t>(days.size());
}

std::vector<Usage> Joined(std::vector<Usage> usages, const std::vector<Usage>& more) {
  usages.insert(usages.end(), more.begin(), more.end());
  std::sort(usages.begin(), usages.end(), [](const Usage& a, const Usage& b) {
    return a.observation->result_id < b.observation->result_id;
  });
  return usages;
}

Figure FigureOf(const Question& question, const std::vector<Usage>& usages) {
  Figure figure(question.criterion, question.threshold);
  for (const Usage& usage : usages) figure.Add(*usage.metric);
  return figure;
}

// One result says nothing about how much results differ: two are the least.
bool Enough(const Question& question, uint32_t results, uint64_t samples, uint32_t days) {
  return results >= 2 && samples >= question.criterion.min_samples() &&
         days >= question.criterion.min_days();
}

void Describe(Figure& figure, const std::vector<Usage>& usages, v1::GroupVerdict* verdict) {
  const std::optional<statistics::Estimate>& estimate = figure.Estimated();
  if (!estimate.has_value()) return;
  verdict->set_value(estimate->value);
  verdict->set_has_value(true);
  verdict->set_interval_low(estimate->interval.low);
  verdict->set_interval_high(estimate->interval.high);
  verdict->set_samples(estimate->samples);
  verdict->set_effective_samples(estimate->effective_samples);
  verdict->set_design_effect(estimate->design_effect);
  verdict->set_runs(estimate->runs);
  verdict->set_days(DaysOf(usages));
  absl::Time first = usages.front().observation->started_at;
  absl::Time last = first;
  for (const Usage& usage : usages) {
    verdict->add_result_ids(usage.observation->result_id);
    first = std::min(first, usage.observation->started_at);
    last = std::max(last, usage.observation->started_at);
  }
  *verdict->mutable_first_at() = ToProto(first);
  *verdict->mutable_last_at() = ToProto(last);
}

// "sz-office / peak"; the server's name where nothing was measured from outside or all is pooled.
std::string PlaceName(const Question& question, const std::string& vantage,
                      const std::string& window) {
  std::string name = vantage.empty() ? question.input.server.name() : vantage;
  if (!window.empty()) absl::StrAppend(&name, " / ", window);
  return name;
}

absl::StatusOr<absl::TimeZone> ZoneOfGroup(const Question& question, const Group& group) {
  const v1::Plan& plan = question.input.plan;
  for (const v1::Window& window : plan.windows()) {
    if (!group.cells.empty() && window.name() == group.cells.front().window) {
      return window::ZoneOf(window, plan);
    }
  }
  return absl::UTCTimeZone();
}

// What every sentence about a group's figure names.
MessageArgs ArgsOf(const Question& question, const Group& group, const v1::GroupVerdict& verdict,
                   absl::TimeZone zone) {
  const v1::Criterion& criterion = question.criterion;
  MessageArgs args = {
      {"where", PlaceName(question, group.vantage, group.window)},
      {"figure", absl::StrCat(criterion.metric(), " ", StatisticName(criterion.statistic()))},
      {"limit", FormatLimit(criterion.comparison(), question.threshold, question.unit)}};
  if (!verdict.has_value()) return args;
  args.insert(
      args.end(),
      {{"value", document::FormatQuantity(verdict.value(), question.unit)},
       {"interval", FormatInterval(verdict.interval_low(), verdict.interval_high(), question.unit)},
       {"confidence", FormatConfidence(criterion.confidence_ratio())},
       {"results", absl::StrCat(verdict.runs())},
       {"samples", absl::StrCat(verdict.samples())},
       {"effective", absl::StrFormat("%.0f", std::floor(verdict.effective_samples()))},
       {"first", FormatMoment(FromProto(verdict.first_at()), zone)},
       {"last", FormatMoment(FromProto(verdict.last_at()), zone)}});
  return args;
}

v1::Message With(absl::string_view id, MessageArgs args, const MessageArgs& more) {
  args.insert(args.end(), more.begin(), more.end());
  return MakeMessage(id, args);
}

std::string Names(const std::set<v1::Mark>& marks) {
  return absl::StrJoin(
      marks, ", ", [](std::string* out, v1::Mark mark) { absl::StrAppend(out, MarkName(mark)); });
}

// Why a group that neither passes nor fails does not: the first thing that would have to change.
v1::Message WhyInconclusive(const Question& question, const Group& group, const Sorted& sorted,
                            Figure& figure, const v1::GroupVerdict& verdict,
                            const MessageArgs& args) {
  const uint32_t marked = static_cast<uint32_t>(sorted.cached.size() + sorted.spoilt.size());
  const MessageArgs marks = {{"marks", Names(sorted.marks)}, {"marked", absl::StrCat(marked)}};
  if (!group.gap.empty()) return With("verdict.gap", args, {{"name", group.gap}});
  if (sorted.clean.empty()) {
    if (marked > 0) return With("verdict.only_marked", args, marks);
    if (sorted.empty > 0) {
      return With("verdict.nothing_answered", args, {{"count", absl::StrCat(sorted.empty)}});
    }
    if (sorted.useless > 0) {
      return With("verdict.all_useless", args, {{"count", absl::StrCat(sorted.useless)}});
    }
    return MakeMessage("verdict.no_results", args);
  }
  if (!sorted.missing.empty()) {
    const Cell& cell = sorted.missing.front();
    return With(
        "verdict.missing_cell", args,
        {{"probe", cell.probe}, {"missing", PlaceName(question, cell.vantage, cell.window)}});
  }
  if (verdict.samples() < question.criterion.min_samples()) {
    return With("verdict.too_few_samples", args,
                {{"needed", absl::StrCat(question.criterion.min_samples())}});
  }
  if (verdict.days() < question.criterion.min_days()) {
    return With("verdict.too_few_days", args,
                {{"days", absl::StrCat(verdict.days())},
                 {"needed", absl::StrCat(question.criterion.min_days())}});
  }
  if (marked > 0) return With("verdict.marked_left_out", args, marks);
  if (verdict.runs() == 1) return MakeMessage("verdict.one_result", args);
  if (verdict.effective_samples() < static_cast<double>(figure.SamplesNeeded())) {
    return With("verdict.too_few_for_statistic", args,
                {{"needed", absl::StrCat(figure.SamplesNeeded())}});
  }
  return MakeMessage("verdict.straddles", args);
}

// Results still to come that are not a matter of the interval.
uint32_t RunsMissing(const Question& question, const Sorted& sorted,
                     const v1::GroupVerdict& verdict) {
  const uint32_t days =
      question.criterion.min_days() - std::min(question.criterion.min_days(), verdict.days());
  return std::max(days, static_cast<uint32_t>(sorted.missing.size()));
}

void AddNotes(const Sorted& sorted, v1::GroupVerdict* verdict) {
  if (sorted.useless > 0) {
    *verdict->add_notes() =
        MakeMessage("verdict.note_useless", {{"count", absl::StrCat(sorted.useless)}});
    if (!sorted.first_useless.id().empty()) *verdict->add_notes() = sorted.first_useless;
  }
  if (sorted.empty > 0 && !sorted.clean.empty()) {
    *verdict->add_notes() =
        MakeMessage("verdict.note_empty", {{"count", absl::StrCat(sorted.empty)}});
  }
  const size_t marked = sorted.cached.size() + sorted.spoilt.size();
  if (marked > 0 && !sorted.clean.empty()) {
    *verdict->add_notes() = MakeMessage(
        "verdict.note_marked", {{"count", absl::StrCat(marked)}, {"marks", Names(sorted.marks)}});
  }
}

v1::GroupVerdict JudgeGroup(const Question& question, const Group& group, const Sorted& sorted,
                            absl::TimeZone zone) {
  v1::GroupVerdict verdict;
  verdict.set_vantage(group.vantage);
  verdict.set_window(group.window);
  AddNotes(sorted, &verdict);

  std::vector<Usage> usages = sorted.clean;
  Figure figure = FigureOf(question, usages);
  Describe(figure, usages, &verdict);
  if (Enough(question, verdict.runs(), verdict.samples(), verdict.days())) {
    const Place place = figure.Decided();
    if (place == Place::kViolates) verdict.set_decision(v1::CRITERION_DECISION_FAIL);
    if (place == Place::kMeets && sorted.missing.empty() && group.gap.empty()) {
      verdict.set_decision(v1::CRITERION_DECISION_PASS);
    }
  }
  if (verdict.decision() == v1::CRITERION_DECISION_UNSPECIFIED && !sorted.cached.empty()) {
    // The page cache only flatters: what violates the threshold even so does violate it.
    std::vector<Usage> flattered = Joined(sorted.clean, sorted.cached);
    Figure worse = FigureOf(question, flattered);
    if (worse.Decided() == Place::kViolates &&
        Enough(question, worse.Estimated()->runs, worse.Estimated()->samples, DaysOf(flattered))) {
      verdict.clear_result_ids();
      Describe(worse, flattered, &verdict);
      verdict.set_decision(v1::CRITERION_DECISION_FAIL);
    }
  }

  const MessageArgs args = ArgsOf(question, group, verdict, zone);
  switch (verdict.decision()) {
    case v1::CRITERION_DECISION_PASS:
      *verdict.mutable_reason() = MakeMessage("verdict.meets", args);
      break;
    case v1::CRITERION_DECISION_FAIL:
      *verdict.mutable_reason() = MakeMessage("verdict.violates", args);
      break;
    default:
      verdict.set_decision(v1::CRITERION_DECISION_INCONCLUSIVE);
      *verdict.mutable_reason() = WhyInconclusive(question, group, sorted, figure, verdict, args);
      if (const uint32_t runs = figure.RunsToDecide(question.criterion.min_samples()); runs > 0) {
        verdict.set_runs_to_decide(std::max(runs, RunsMissing(question, sorted, verdict)));
      }
  }
  return verdict;
}

int Badness(v1::CriterionDecision decision) {
  if (decision == v1::CRITERION_DECISION_FAIL) return 2;
  return decision == v1::CRITERION_DECISION_PASS ? 0 : 1;
}

// Of equally decided groups the one without a figure, then the one with the worse figure; then the
// first.
bool Worse(const v1::GroupVerdict& a, const v1::GroupVerdict& b, v1::Comparison comparison) {
  if (Badness(a.decision()) != Badness(b.decision())) {
    return Badness(a.decision()) > Badness(b.decision());
  }
  if (a.has_value() != b.has_value()) return !a.has_value();
  if (!a.has_value()) return false;
  return comparison == v1::COMPARISON_AT_LEAST ? a.value() < b.value() : a.value() > b.value();
}

}  // namespace

ObservationIndex IndexObservations(const std::vector<Observation>& observations) {
  ObservationIndex index;
  for (const Observation& observation : observations) {
    index[{observation.vantage, observation.window, observation.probe}].push_back(&observation);
  }
  return index;
}

absl::StatusOr<CriterionResult> JudgeCriterion(const VerdictInput& input,
                                               const ObservationIndex& index,
                                               const v1::Criterion& criterion) {
  Question question{input, {}};
  ASSAY_ASSIGN_OR_RETURN(question.criterion, WithDefaults(criterion));
  question.unit = metric::Find(criterion.metric())->unit;
  ASSAY_ASSIGN_OR_RETURN(question.threshold,
                         document::ParseQuantity(criterion.threshold(), question.unit));

  CriterionResult result;
  v1::CriterionVerdict& verdict = result.verdict;
  *verdict.mutable_criterion() = question.criterion;
  verdict.set_unit(UnitName(question.unit));
  verdict.set_threshold(question.threshold);
  verdict.set_deciding_group(-1);
  for (const Group& group : ExpectedGroups(input, question.criterion)) {
    const Sorted sorted = SortGroup(question, index, group);
    ASSAY_ASSIGN_OR_RETURN(absl::TimeZone zone, ZoneOfGroup(question, group));
    *verdict.add_groups() = JudgeGroup(question, group, sorted, zone);
    result.used.insert(result.used.end(), sorted.used.begin(), sorted.used.end());
    const int last = verdict.groups_size() - 1;
    if (last == 0 || Worse(verdict.groups(last), verdict.groups(verdict.deciding_group()),
                           question.criterion.comparison())) {
      verdict.set_deciding_group(last);
    }
  }
  if (verdict.groups().empty()) {
    verdict.set_decision(v1::CRITERION_DECISION_INCONCLUSIVE);
    *verdict.mutable_reason() = MakeMessage(
        "verdict.not_in_plan", {{"plan", input.plan.name()}, {"metric", criterion.metric()}});
    return result;
  }
  const v1::GroupVerdict& deciding = verdict.groups(verdict.deciding_group());
  verdict.set_decision(deciding.decision());
  *verdict.mutable_reason() = deciding.reason();
  return result;
}

}  // namespace assay::verdict
