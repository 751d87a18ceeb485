// What people and programs are told.
#include "core/verdict/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "core/verdict/json.h"
#include "core/verdict/words.h"
#include "nlohmann/json.hpp"
#include "tests/core/verdict/scene.h"

namespace assay::verdict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Scene FailingScene() {
  Scene scene;
  v1::Criterion& criterion = scene.AddCriterion("peak-loss", "icmp.loss_ratio", "1%");
  criterion.set_reason("SSH becomes unusable above this");
  scene.AddMany(4, Loss(20, 100));
  scene.AddUseless(v1::OUTCOME_FAILED, "probe.unheard_of");
  return scene;
}

TEST(ExplainTest, NamesFigureIntervalThresholdResultsAndTimes) {
  std::vector<std::string> lines = ExplainLines(FailingScene().Evaluated(), Language::kEnglish);
  ASSERT_EQ(lines.size(), 8);
  EXPECT_EQ(lines[0], "rejected: hk-gpu-01: must criteria that fail (1 of 1): peak-loss");
  EXPECT_EQ(lines[1], "peak-loss (must), icmp.loss_ratio ratio ≤ 1 % at 95 %: fail");
  EXPECT_EQ(lines[2], "  why this threshold: SSH becomes unusable above this");
  EXPECT_THAT(lines[3], testing::StartsWith(
                            "  fail: sz-office / evening: icmp.loss_ratio ratio is 20 % and the "
                            "whole 95 % interval [1"));
  EXPECT_THAT(lines[3],
              HasSubstr("violates ≤ 1 % (results: 4; samples: 400, worth 152 independent"));
  EXPECT_THAT(lines[3], HasSubstr("2026-12-01 20:10:00 +08:00 to 2026-12-01 20:40:00 +08:00)"));
  EXPECT_EQ(lines[4], "    results 1–4; days: 1");
  EXPECT_THAT(lines[5],
              HasSubstr("note: results without a usable figure (failed or not measurable): 1"));
  EXPECT_EQ(lines[6], "    note: probe.unheard_of");
  EXPECT_THAT(lines[7], testing::StartsWith("digest "));
}

TEST(ExplainTest, SpeaksChinese) {
  std::string text =
      absl::StrJoin(ExplainLines(FailingScene().Evaluated(), Language::kChinese), "\n");
  EXPECT_THAT(text, HasSubstr("拒绝：hk-gpu-01：1 条 must 判据中有 1 条不通过：peak-loss"));
  EXPECT_THAT(text, HasSubstr("不通过：sz-office / evening：icmp.loss_ratio ratio 为 20 %"));
  EXPECT_THAT(text, HasSubstr("全部不满足 ≤ 1 %"));
  EXPECT_THAT(text, HasSubstr("2026-12-01 20:10:00 +08:00"));
}

TEST(ExplainTest, SaysWhatWouldDecideIt) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(4, Loss(0, 50));
  std::string text = absl::StrJoin(ExplainLines(scene.Evaluated(), Language::kEnglish), "\n");
  EXPECT_THAT(text, HasSubstr("would probably decide it, if things stay as they are: about 4"));
}

// Every reason is filled in completely, in both languages.
TEST(ExplainTest, NoPlaceholderIsLeftOpen) {
  std::vector<Scene> scenes(12);
  int index = 0;
  auto next = [&]() -> Scene& { return scenes[static_cast<size_t>(index++)]; };
  auto with_loss = [&](int results, uint64_t lost) -> Scene& {
    Scene& scene = next();
    scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
    scene.AddMany(results, Loss(lost, 100));
    return scene;
  };
  with_loss(4, 0);                                         // meets
  with_loss(4, 1);                                         // straddles
  with_loss(1, 0);                                         // one result
  with_loss(4, 0).input.criteria[0].set_min_days(3);       // days
  with_loss(4, 0).input.criteria[0].set_min_samples(900);  // samples
  with_loss(4, 0).input.observations[0].marks = {v1::MARK_CLOCK};
  with_loss(1, 0).input.observations[0].marks = {v1::MARK_CLOCK, v1::MARK_CACHED};
  with_loss(4, 0).input.criteria[0].mutable_where()->add_windows("noon");
  with_loss(0, 0).AddUseless(v1::OUTCOME_FAILED, "probe.x");
  with_loss(0, 0).AddMany(1, Loss(0, 0));
  with_loss(0, 0).input.tasks.set_pending(2);
  with_loss(0, 0).input.criteria[0].set_metric("http.failure_ratio");
  for (const Scene& scene : scenes) {
    for (Language language : {Language::kEnglish, Language::kChinese}) {
      for (const std::string& line : ExplainLines(scene.Evaluated(), language)) {
        EXPECT_THAT(line, Not(HasSubstr("{"))) << line;
        EXPECT_THAT(line, Not(HasSubstr("verdict."))) << line;
      }
    }
  }
}

TEST(JsonTest, HasTheFixedKeys) {
  nlohmann::ordered_json json = ToJson(FailingScene().Evaluated(), Language::kEnglish);
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_THAT(keys, ElementsAre("server", "decision", "criteria", "digest", "run", "plan", "reason",
                                "notes", "tasks"));
  EXPECT_EQ(json["server"], "hk-gpu-01");
  EXPECT_EQ(json["decision"], "rejected");

  const auto& criterion = json["criteria"][0];
  for (const char* key : {"id", "severity", "decision", "value", "interval", "threshold", "unit",
                          "samples", "effective_samples", "days", "reason", "runs_to_decide"}) {
    EXPECT_TRUE(criterion.contains(key)) << key;
  }
  EXPECT_EQ(criterion["id"], "peak-loss");
  EXPECT_EQ(criterion["severity"], "must");
  EXPECT_EQ(criterion["decision"], "fail");
  EXPECT_EQ(criterion["value"], 0.2);
  EXPECT_EQ(criterion["threshold"], 0.01);
  EXPECT_EQ(criterion["unit"], "ratio");
  EXPECT_EQ(criterion["samples"], 400);
  EXPECT_EQ(criterion["groups"][0]["vantage"], "sz-office");
  EXPECT_EQ(criterion["groups"][0]["result_ids"], nlohmann::ordered_json({1, 2, 3, 4}));
  EXPECT_EQ(criterion["groups"][0]["first_at"], "2026-12-01T12:10:00Z");
}

TEST(JsonTest, DecisionWordsAreNotTranslatedAndSentencesAre) {
  nlohmann::ordered_json json = ToJson(FailingScene().Evaluated(), Language::kChinese);
  EXPECT_EQ(json["decision"], "rejected");
  EXPECT_EQ(json["criteria"][0]["decision"], "fail");
  EXPECT_THAT(json["reason"].get<std::string>(), HasSubstr("不通过"));
}

TEST(JsonTest, AnEndThatTheSamplesDoNotGiveIsNull) {
  Scene scene;
  scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
  scene.AddMany(1, Rtt({1, 2, 3}));
  nlohmann::ordered_json json = ToJson(scene.Evaluated(), Language::kEnglish);
  EXPECT_EQ(json["criteria"][0]["interval"].dump(), "[0.0,null]");
  EXPECT_EQ(json["criteria"][0]["value"], 2);
}

TEST(JsonTest, NoFigureIsNull) {
  Scene scene;
  scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
  scene.AddCriterion("connect", "tcp.connect_ms", "20ms");
  nlohmann::ordered_json json = ToJson(scene.Evaluated(), Language::kEnglish);
  for (int i : {0, 1}) {
    EXPECT_TRUE(json["criteria"][i]["value"].is_null());
    EXPECT_EQ(json["criteria"][i]["interval"].dump(), "[null,null]");
    EXPECT_EQ(json["criteria"][i]["decision"], "inconclusive");
  }
}

TEST(WordsTest, ResultsAreListedInRanges) {
  EXPECT_EQ(FormatIds({3}), "3");
  EXPECT_EQ(FormatIds({3, 4}), "3, 4");
  EXPECT_EQ(FormatIds({1, 3, 4, 5, 9}), "1, 3–5, 9");
}

}  // namespace
}  // namespace assay::verdict
