#include "core/verdict/json.h"

#include <cmath>

#include "common/base/proto_time.h"
#include "core/verdict/explain.h"
#include "core/verdict/words.h"
#include "nlohmann/json.hpp"

namespace assay::verdict {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json Moment(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", FromProto(time), absl::UTCTimeZone());
}

Json Sentences(const google::protobuf::RepeatedPtrField<v1::Message>& messages, Language language) {
  Json list = Json::array();
  for (const v1::Message& message : messages) list.push_back(Render(language, message));
  return list;
}

void AddFigure(const v1::GroupVerdict& group, Json* json) {
  (*json)["value"] = group.has_value() ? Number(group.value()) : Json(nullptr);
  (*json)["interval"] = group.has_value()
                            ? Json{Number(group.interval_low()), Number(group.interval_high())}
                            : Json{nullptr, nullptr};
}

void AddCounts(const v1::GroupVerdict& group, Json* json) {
  (*json)["samples"] = group.samples();
  (*json)["effective_samples"] = group.effective_samples();
  (*json)["days"] = group.days();
}

Json GroupJson(const v1::GroupVerdict& group, Language language) {
  Json json;
  json["vantage"] = group.vantage();
  json["window"] = group.window();
  json["decision"] = DecisionWord(group.decision(), Language::kEnglish);
  AddFigure(group, &json);
  AddCounts(group, &json);
  json["design_effect"] = Number(group.design_effect());
  json["runs"] = group.runs();
  json["reason"] = Render(language, group.reason());
  json["notes"] = Sentences(group.notes(), language);
  json["runs_to_decide"] = group.runs_to_decide();
  if (group.has_first_at()) {
    json["first_at"] = Moment(group.first_at());
    json["last_at"] = Moment(group.last_at());
  }
  json["result_ids"] = Json::array();
  for (int64_t id : group.result_ids()) json["result_ids"].push_back(id);
  return json;
}

Json CriterionJson(const v1::CriterionVerdict& verdict, Language language) {
  const v1::Criterion& criterion = verdict.criterion();
  const bool decided =
      verdict.deciding_group() >= 0 && verdict.deciding_group() < verdict.groups_size();
  const v1::GroupVerdict group =
      decided ? verdict.groups(verdict.deciding_group()) : v1::GroupVerdict();
  Json json;
  json["id"] = criterion.id();
  json["severity"] = SeverityName(criterion.severity());
  json["decision"] = DecisionWord(verdict.decision(), Language::kEnglish);
  AddFigure(group, &json);
  json["threshold"] = Number(verdict.threshold());
  json["unit"] = verdict.unit();
  AddCounts(group, &json);
  json["reason"] = Render(language, verdict.reason());
  json["runs_to_decide"] = group.runs_to_decide();
  json["metric"] = criterion.metric();
  json["statistic"] = StatisticName(criterion.statistic());
  json["comparison"] = criterion.comparison() == v1::COMPARISON_AT_LEAST ? "at_least" : "at_most";
  json["confidence"] = criterion.confidence_ratio();
  json["groups"] = Json::array();
  for (const v1::GroupVerdict& each : verdict.groups()) {
    json["groups"].push_back(GroupJson(each, language));
  }
  return json;
}

}  // namespace

Json ToJson(const v1::Verdict& verdict, Language language) {
  Json json;
  json["server"] = verdict.server();
  json["decision"] = DecisionWord(verdict.decision(), Language::kEnglish);
  json["criteria"] = Json::array();
  for (const v1::CriterionVerdict& criterion : verdict.criteria()) {
    json["criteria"].push_back(CriterionJson(criterion, language));
  }
  json["digest"] = verdict.digest();
  json["run"] = verdict.run();
  json["plan"] = verdict.plan();
  json["reason"] = Render(language, verdict.reason());
  json["notes"] = Sentences(verdict.notes(), language);
  json["tasks"] = {{"done", verdict.tasks_done()},
                   {"failed", verdict.tasks_failed()},
                   {"missed", verdict.tasks_missed()},
                   {"cancelled", verdict.tasks_cancelled()},
                   {"open", verdict.tasks_open()}};
  if (verdict.has_evaluated_at()) json["evaluated_at"] = Moment(verdict.evaluated_at());
  return json;
}

}  // namespace assay::verdict
