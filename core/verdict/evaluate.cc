#include "core/verdict/evaluate.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/hash/sha256.h"
#include "core/metric/catalogue.h"
#include "core/verdict/canonical.h"
#include "core/verdict/judge.h"

namespace assay::verdict {
namespace {

bool IsRoute(const v1::Criterion& criterion) {
  return metric::Find(criterion.metric())->family == metric::Family::kRoute;
}

// Places whose route is judged by a `must` on data of which none is from a PEAK window.
std::vector<std::string> OffPeakOnly(const VerdictInput& input,
                                     const std::vector<CriterionResult>& criteria) {
  std::set<std::string> peak_windows;
  for (const v1::Window& window : input.plan.windows()) {
    if (window.role() == v1::WINDOW_ROLE_PEAK) peak_windows.insert(window.name());
  }
  std::map<std::string, bool> has_peak;  // by place
  for (const CriterionResult& criterion : criteria) {
    if (criterion.verdict.criterion().severity() != v1::SEVERITY_MUST) continue;
    if (!IsRoute(criterion.verdict.criterion())) continue;
    for (const Cell& cell : criterion.used) {
      has_peak[cell.vantage] |= peak_windows.count(cell.window) > 0;
    }
  }
  std::vector<std::string> places;
  for (const auto& [place, peak] : has_peak) {
    if (!peak) places.push_back(place.empty() ? input.server.name() : place);
  }
  return places;
}

void DecideServer(const VerdictInput& input, const std::vector<CriterionResult>& criteria,
                  v1::Verdict* verdict) {
  std::vector<std::string> musts;
  std::vector<std::string> failed;
  std::vector<std::string> undecided;
  for (const v1::CriterionVerdict& criterion : verdict->criteria()) {
    if (criterion.criterion().severity() != v1::SEVERITY_MUST) continue;
    const std::string& id = criterion.criterion().id();
    musts.push_back(id);
    if (criterion.decision() == v1::CRITERION_DECISION_FAIL) failed.push_back(id);
    if (criterion.decision() == v1::CRITERION_DECISION_INCONCLUSIVE) undecided.push_back(id);
  }
  auto decide = [&](v1::ServerDecision decision, absl::string_view id, MessageArgs args) {
    args.emplace_back("server", input.server.name());
    args.emplace_back("musts", absl::StrCat(musts.size()));
    verdict->set_decision(decision);
    *verdict->mutable_reason() = MakeMessage(id, args);
  };
  if (!failed.empty()) {
    return decide(
        v1::SERVER_DECISION_REJECTED, "verdict.rejected",
        {{"count", absl::StrCat(failed.size())}, {"criteria", absl::StrJoin(failed, ", ")}});
  }
  if (musts.empty()) return decide(v1::SERVER_DECISION_INCONCLUSIVE, "verdict.no_musts", {});
  if (!undecided.empty()) {
    return decide(
        v1::SERVER_DECISION_INCONCLUSIVE, "verdict.undecided",
        {{"count", absl::StrCat(undecided.size())}, {"criteria", absl::StrJoin(undecided, ", ")}});
  }
  if (verdict->tasks_open() > 0) {
    return decide(v1::SERVER_DECISION_INCONCLUSIVE, "verdict.still_running",
                  {{"open", absl::StrCat(verdict->tasks_open())}});
  }
  if (std::vector<std::string> places = OffPeakOnly(input, criteria); !places.empty()) {
    return decide(v1::SERVER_DECISION_INCONCLUSIVE, "verdict.only_off_peak",
                  {{"places", absl::StrJoin(places, ", ")}});
  }
  decide(v1::SERVER_DECISION_ACCEPTED, "verdict.accepted", {});
}

void AddTaskNotes(const VerdictInput& input, v1::Verdict* verdict) {
  if (verdict->tasks_open() > 0) {
    *verdict->add_notes() =
        MakeMessage("verdict.preliminary", {{"open", absl::StrCat(verdict->tasks_open())},
                                            {"total", absl::StrCat(input.tasks.total())}});
  }
  const uint32_t lost =
      verdict->tasks_failed() + verdict->tasks_missed() + verdict->tasks_cancelled();
  if (lost > 0) {
    *verdict->add_notes() =
        MakeMessage("verdict.note_tasks", {{"failed", absl::StrCat(verdict->tasks_failed())},
                                           {"missed", absl::StrCat(verdict->tasks_missed())},
                                           {"cancelled", absl::StrCat(verdict->tasks_cancelled())},
                                           {"total", absl::StrCat(input.tasks.total())}});
  }
}

}  // namespace

absl::StatusOr<v1::Verdict> Evaluate(const VerdictInput& input) {
  v1::Verdict verdict;
  verdict.set_server(input.server.name());
  verdict.set_run(input.run);
  verdict.set_plan(input.plan.name());
  verdict.set_tasks_done(input.tasks.done());
  verdict.set_tasks_failed(input.tasks.failed());
  verdict.set_tasks_missed(input.tasks.missed());
  verdict.set_tasks_cancelled(input.tasks.cancelled());
  verdict.set_tasks_open(input.tasks.pending() + input.tasks.leased());
  const ObservationIndex index = IndexObservations(input.observations);
  std::vector<CriterionResult> criteria;
  for (const v1::Criterion& criterion : input.criteria) {
    ASSAY_ASSIGN_OR_RETURN(CriterionResult result, JudgeCriterion(input, index, criterion));
    *verdict.add_criteria() = result.verdict;
    criteria.push_back(std::move(result));
  }
  DecideServer(input, criteria, &verdict);
  AddTaskNotes(input, &verdict);
  verdict.set_digest(Digest(verdict, input));
  return verdict;
}

std::string Digest(const v1::Verdict& verdict, const VerdictInput& input) {
  v1::Verdict body = verdict;
  body.clear_digest();
  body.clear_evaluated_at();
  std::string canonical = absl::StrCat("assay-verdict 1\n", CanonicalForm(body, "verdict."));
  for (size_t i = 0; i < input.criteria.size(); ++i) {
    absl::StrAppend(&canonical,
                    CanonicalForm(input.criteria[i], absl::StrCat("criterion[", i, "].")));
  }
  std::vector<std::pair<int64_t, const std::string*>> results;
  for (const Observation& observation : input.observations) {
    results.emplace_back(observation.result_id, &observation.evidence_sha256);
  }
  std::sort(results.begin(), results.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  for (const auto& [id, hash] : results) {
    absl::StrAppend(&canonical, "result ", id, " ", hash->empty() ? "-" : *hash, "\n");
  }
  return Sha256Hex(canonical);
}

}  // namespace assay::verdict
