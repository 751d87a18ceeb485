#include "cli/render/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/term/width.h"
#include "nlohmann/json.hpp"

namespace assay::render {
namespace {

using ::testing::HasSubstr;

View VerdictView(Language language, term::OutputFormat format = term::OutputFormat::kTable) {
  View view;
  view.language = language;
  view.format = format;
  view.zone = absl::UTCTimeZone();
  return view;
}

v1::GroupVerdict* AddGroup(v1::CriterionVerdict* criterion, const std::string& vantage,
                           const std::string& window, v1::CriterionDecision decision, double value,
                           double low, double high, uint64_t samples, double effective) {
  v1::GroupVerdict* group = criterion->add_groups();
  group->set_vantage(vantage);
  group->set_window(window);
  group->set_decision(decision);
  group->set_has_value(true);
  group->set_value(value);
  group->set_interval_low(low);
  group->set_interval_high(high);
  group->set_samples(samples);
  group->set_effective_samples(effective);
  return group;
}

v1::CriterionVerdict* AddCriterion(v1::Verdict* verdict, const std::string& id,
                                   const std::string& metric, v1::Severity severity,
                                   double threshold, const std::string& unit) {
  v1::CriterionVerdict* criterion = verdict->add_criteria();
  criterion->mutable_criterion()->set_id(id);
  criterion->mutable_criterion()->set_metric(metric);
  criterion->mutable_criterion()->set_severity(severity);
  criterion->mutable_criterion()->set_comparison(v1::COMPARISON_AT_MOST);
  criterion->set_threshold(threshold);
  criterion->set_unit(unit);
  return criterion;
}

v1::Verdict Rejected() {
  v1::Verdict verdict;
  verdict.set_server("hk-gpu-01");
  verdict.set_run("run-1");
  verdict.set_plan("trial");
  verdict.set_decision(v1::SERVER_DECISION_REJECTED);
  *verdict.mutable_reason() = MakeMessage(
      "verdict.rejected",
      {{"server", "hk-gpu-01"}, {"count", "1"}, {"musts", "2"}, {"criteria", "peak-loss"}});
  verdict.set_tasks_done(9);
  verdict.set_tasks_missed(1);

  auto* loss =
      AddCriterion(&verdict, "peak-loss", "icmp.loss_ratio", v1::SEVERITY_MUST, 0.01, "ratio");
  loss->set_decision(v1::CRITERION_DECISION_FAIL);
  *AddGroup(loss, "sz-office", "peak", v1::CRITERION_DECISION_FAIL, 0.1, 0.08, 0.12, 600, 410.2)
       ->mutable_reason() = MakeMessage("verdict.violates");
  auto* group = AddGroup(loss, "sz-office", "off-peak", v1::CRITERION_DECISION_INCONCLUSIVE, 0.005,
                         0.001, 0.02, 600, 600);
  *group->mutable_reason() = MakeMessage("verdict.straddles");
  group->set_runs_to_decide(4);

  auto* rtt = AddCriterion(&verdict, "rtt", "icmp.rtt_ms", v1::SEVERITY_SHOULD, 60, "ms");
  rtt->set_decision(v1::CRITERION_DECISION_PASS);
  *AddGroup(rtt, "", "", v1::CRITERION_DECISION_PASS, 12.5, 12.1,
            std::numeric_limits<double>::infinity(), 1200, 1200)
       ->mutable_reason() = MakeMessage("verdict.meets");

  auto* none =
      AddCriterion(&verdict, "gone", "tcp.failure_ratio", v1::SEVERITY_MUST, 0.05, "ratio");
  none->set_decision(v1::CRITERION_DECISION_INCONCLUSIVE);
  *none->mutable_reason() =
      MakeMessage("verdict.not_in_plan", {{"plan", "trial"}, {"metric", "tcp.failure_ratio"}});
  return verdict;
}

TEST(VerdictTest, TableInEnglish) {
  EXPECT_EQ(
      Verdict(Rejected(), /*explain=*/false, VerdictView(Language::kEnglish)),
      "Verdict on hk-gpu-01  (run run-1, plan trial)\n"
      "\n"
      "criterion     vantage    window     figure  interval       limit    samples  decision\n"
      "peak-loss     sz-office  peak         10 %  8 – 12 %       ≤ 1 %  600 (410)  ✗ fail\n"
      "    the whole interval violates the limit\n"
      "peak-loss     sz-office  off-peak    0.5 %  0.1 – 2 %      ≤ 1 %        600  ? "
      "inconclusive\n"
      "    the interval lies on both sides of the limit; about 4 more results like these would "
      "probably\n"
      "    decide it\n"
      "rtt (should)  all        all       12.5 ms  12.1 ms – ∞  ≤ 60 ms       1200  ✓ pass\n"
      "    the whole interval meets the limit\n"
      "gone          -          -               -  -              ≤ 5 %          0  ? "
      "inconclusive\n"
      "    no probe of plan trial measures tcp.failure_ratio\n"
      "\n"
      "! tasks: 9 done, 0 failed, 1 missed, 0 cancelled, 0 open\n"
      "Decision: rejected — hk-gpu-01: must criteria that fail (1 of 2): peak-loss\n");
}

TEST(VerdictTest, TableInChinese) {
  EXPECT_EQ(
      Verdict(Rejected(), /*explain=*/false, VerdictView(Language::kChinese)),
      "服务器 hk-gpu-01 的结论（运行 run-1，计划 trial）\n"
      "\n"
      "判据        观测点     窗口         数值  置信区间        阈值       样本  判定\n"
      "peak-loss   sz-office  peak         10 %  8 – 12 %       ≤ 1 %  600 (410)  ✗ 不通过\n"
      "    整个置信区间不满足阈值\n"
      "peak-loss   sz-office  off-peak    0.5 %  0.1 – 2 %      ≤ 1 %        600  ? 不能判定\n"
      "    置信区间跨在阈值两侧；再有约 4 个同等规模的结果大概就能判定\n"
      "rtt (应当)  全部       全部      12.5 ms  12.1 ms – ∞  ≤ 60 ms       1200  ✓ 通过\n"
      "    整个置信区间满足阈值\n"
      "gone        -          -               -  -              ≤ 5 %          0  ? 不能判定\n"
      "    计划 trial 中没有测量 tcp.failure_ratio 的探测\n"
      "\n"
      "! 任务：完成 9，失败 0，错过 1，取消 0，未结束 0\n"
      "结论：拒绝 — hk-gpu-01：2 条 must 判据中有 1 条不通过：peak-loss\n");
}

TEST(VerdictTest, ItNeverNeedsMoreThanAHundredColumns) {
  v1::Verdict verdict = Rejected();
  verdict.mutable_criteria(0)->mutable_criterion()->set_id(
      "loss-at-peak-for-staff-in-the-office-of-shenzhen-nanshan");
  verdict.mutable_criteria(0)->mutable_groups(0)->set_vantage(
      "guangzhou-telecom-customers-behind-carrier-grade-nat");
  for (Language language : {Language::kEnglish, Language::kChinese}) {
    for (int width : {0, 80, 100, 240}) {
      View view = VerdictView(language);
      view.terminal.width = width;
      std::string text = Verdict(verdict, /*explain=*/true, view);
      for (absl::string_view line : absl::StrSplit(text, '\n')) {
        EXPECT_LE(term::DisplayWidth(line), width == 80 ? 80 : 100) << line;
      }
    }
  }
}

TEST(VerdictTest, NamesThatWereShortenedAreGivenInFull) {
  v1::Verdict verdict = Rejected();
  verdict.mutable_criteria(0)->mutable_groups(0)->set_vantage(
      "guangzhou-telecom-customers-behind-carrier-grade-nat");

  EXPECT_THAT(Verdict(verdict, false, VerdictView(Language::kEnglish)),
              HasSubstr("    peak-loss · guangzhou-telecom-customers-behind-carrier-grade-nat · "
                        "peak: the whole interval\n    violates the limit\n"));
}

TEST(VerdictTest, CsvHasOneRowAGroup) {
  std::vector<std::string> lines = absl::StrSplit(
      Verdict(Rejected(), false, VerdictView(Language::kEnglish, term::OutputFormat::kCsv)), "\r\n",
      absl::SkipEmpty());

  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(absl::StartsWith(
      lines[1],
      "hk-gpu-01,run-1,rejected,peak-loss,must,icmp.loss_ratio,unspecified,sz-office,peak,fail,0.1,"
      "0.08,0.12,0.01,ratio,600,410.2,"))
      << lines[1];
  // An end of the interval that the samples do not give is empty.
  EXPECT_THAT(lines[3], HasSubstr(",12.5,12.1,,60,ms,"));
}

TEST(VerdictTest, JsonIsTheEnginesOwn) {
  auto json = nlohmann::json::parse(
      Verdict(Rejected(), false, VerdictView(Language::kEnglish, term::OutputFormat::kJson)));
  EXPECT_EQ(json["server"], "hk-gpu-01");
  EXPECT_EQ(json["decision"], "rejected");
  EXPECT_EQ(json["criteria"].size(), 3u);
}

TEST(VerdictTest, ExplainAddsTheEnginesLines) {
  std::string plain = Verdict(Rejected(), false, VerdictView(Language::kEnglish));
  std::string explained = Verdict(Rejected(), true, VerdictView(Language::kEnglish));
  EXPECT_GT(explained.size(), plain.size());
}

TEST(VerdictTest, ExitCodesAreTheDecisions) {
  EXPECT_EQ(ExitCode(v1::SERVER_DECISION_ACCEPTED), 0);
  EXPECT_EQ(ExitCode(v1::SERVER_DECISION_REJECTED), 1);
  EXPECT_EQ(ExitCode(v1::SERVER_DECISION_INCONCLUSIVE), 3);
  EXPECT_EQ(ExitCode(v1::SERVER_DECISION_UNSPECIFIED), 3);
}

std::set<std::string> PlaceholdersOf(absl::string_view pattern) {
  std::set<std::string> names;
  for (size_t open = pattern.find('{'); open != absl::string_view::npos;
       open = pattern.find('{', open + 1)) {
    names.insert(std::string(pattern.substr(open, pattern.find('}', open) - open)));
  }
  return names;
}

// A shortened reason is filled with the arguments of the full one: it may use no others.
TEST(VerdictTest, ShortenedReasonsUseOnlyWhatTheEngineGives) {
  std::map<std::string, std::set<std::string>> full;
  for (const CatalogueEntry& entry : Catalogue()) full[entry.id] = PlaceholdersOf(entry.english);
  int checked = 0;
  for (const CatalogueEntry& entry : Catalogue()) {
    absl::string_view id = entry.id;
    if (!absl::ConsumePrefix(&id, "cli.why.")) continue;
    auto original = full.find(absl::StrCat("verdict.", id));
    ASSERT_NE(original, full.end()) << entry.id;
    for (const std::string& name : PlaceholdersOf(entry.english)) {
      EXPECT_EQ(original->second.count(name), 1u) << entry.id << " " << name;
    }
    ++checked;
  }
  EXPECT_GT(checked, 5);
}

}  // namespace
}  // namespace assay::render
