#include "core/verdict/explain.h"

#include "absl/strings/str_cat.h"
#include "core/metric/catalogue.h"
#include "core/verdict/words.h"

namespace assay::verdict {
namespace {

class Explainer {
 public:
  explicit Explainer(Language language) : language_(language) {}

  std::vector<std::string> Explain(const v1::Verdict& verdict) {
    Line(0, "verdict.explain_server",
         {{"decision", DecisionWord(verdict.decision(), language_)},
          {"reason", Render(language_, verdict.reason())}});
    Notes(1, verdict.notes());
    for (const v1::CriterionVerdict& criterion : verdict.criteria()) Criterion(criterion);
    if (!verdict.digest().empty())
      Line(0, "verdict.explain_digest", {{"digest", verdict.digest()}});
    return std::move(lines_);
  }

 private:
  void Line(int level, absl::string_view id, const MessageArgs& args) {
    lines_.push_back(
        absl::StrCat(std::string(static_cast<size_t>(2 * level), ' '), Text(language_, id, args)));
  }

  void Notes(int level, const google::protobuf::RepeatedPtrField<v1::Message>& notes) {
    for (const v1::Message& note : notes) {
      Line(level, "verdict.explain_note", {{"note", Render(language_, note)}});
    }
  }

  void Criterion(const v1::CriterionVerdict& verdict) {
    const v1::Criterion& criterion = verdict.criterion();
    const metric::MetricInfo* info = metric::Find(criterion.metric());
    const v1::Unit unit = info == nullptr ? v1::UNIT_UNSPECIFIED : info->unit;
    Line(0, "verdict.explain_criterion",
         {{"id", criterion.id()},
          {"severity", SeverityName(criterion.severity())},
          {"figure", absl::StrCat(criterion.metric(), " ", StatisticName(criterion.statistic()))},
          {"limit", FormatLimit(criterion.comparison(), verdict.threshold(), unit)},
          {"confidence", FormatConfidence(criterion.confidence_ratio())},
          {"decision", DecisionWord(verdict.decision(), language_)}});
    if (!criterion.reason().empty()) {
      Line(1, "verdict.explain_why", {{"reason", criterion.reason()}});
    }
    if (verdict.groups().empty()) {
      Line(1, "verdict.explain_group",
           {{"decision", DecisionWord(verdict.decision(), language_)},
            {"reason", Render(language_, verdict.reason())}});
    }
    for (const v1::GroupVerdict& group : verdict.groups()) Group(group);
  }

  void Group(const v1::GroupVerdict& group) {
    Line(1, "verdict.explain_group",
         {{"decision", DecisionWord(group.decision(), language_)},
          {"reason", Render(language_, group.reason())}});
    if (!group.result_ids().empty()) {
      const auto& ids = group.result_ids();
      Line(2, "verdict.explain_results",
           {{"ids", FormatIds({ids.data(), static_cast<size_t>(ids.size())})},
            {"days", absl::StrCat(group.days())}});
    }
    if (group.runs_to_decide() > 0) {
      Line(2, "verdict.explain_more", {{"runs", absl::StrCat(group.runs_to_decide())}});
    }
    Notes(2, group.notes());
  }

  Language language_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> ExplainLines(const v1::Verdict& verdict, Language language) {
  return Explainer(language).Explain(verdict);
}

std::string DecisionWord(v1::ServerDecision decision, Language language) {
  switch (decision) {
    case v1::SERVER_DECISION_ACCEPTED:
      return Text(language, "verdict.word_accepted");
    case v1::SERVER_DECISION_REJECTED:
      return Text(language, "verdict.word_rejected");
    default:
      return Text(language, "verdict.word_inconclusive");
  }
}

std::string DecisionWord(v1::CriterionDecision decision, Language language) {
  switch (decision) {
    case v1::CRITERION_DECISION_PASS:
      return Text(language, "verdict.word_pass");
    case v1::CRITERION_DECISION_FAIL:
      return Text(language, "verdict.word_fail");
    default:
      return Text(language, "verdict.word_inconclusive");
  }
}

}  // namespace assay::verdict
