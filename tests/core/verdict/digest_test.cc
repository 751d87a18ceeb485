// The same input gives the same bytes, another input another digest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "core/verdict/canonical.h"
#include "core/verdict/evaluate.h"
#include "tests/core/verdict/scene.h"

namespace assay::verdict {
namespace {

std::string Bytes(const v1::Verdict& verdict) { return CanonicalForm(verdict, ""); }

Scene FullScene() {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").clear_where();
  v1::Criterion& rtt = scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
  rtt.clear_where();
  rtt.set_statistic(v1::STATISTIC_MEAN);
  int step = 0;
  for (const char* vantage : {"gz-office", "sz-office"}) {
    for (const char* window : {"night", "evening"}) {
      for (int i = 0; i < 5; ++i, ++step) {
        Observation& observation = scene.Add(Loss(step % 3, 100 + step));
        observation.metrics.push_back(Rtt({10 + 0.1 * step, 11.3, 9.7 / (step + 1)}));
        observation.vantage = vantage;
        observation.window = window;
        observation.day = absl::CivilDay(2026, 12, 1) + step % 3;
      }
    }
  }
  scene.AddUseless(v1::OUTCOME_FAILED, "probe.one");
  scene.AddUseless(v1::OUTCOME_FAILED, "probe.two");
  return scene;
}

TEST(EvaluateTest, TwiceGivesTheSameBytes) {
  Scene scene = FullScene();
  EXPECT_EQ(Bytes(scene.Evaluated()), Bytes(scene.Evaluated()));
}

TEST(EvaluateTest, OrderOfObservationsAndVantagesDoesNotMatter) {
  Scene scene = FullScene();
  const v1::Verdict verdict = scene.Evaluated();
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(scene.input.observations.begin(), scene.input.observations.end(), random);
    std::shuffle(scene.input.vantages.begin(), scene.input.vantages.end(), random);
    ASSERT_EQ(Bytes(scene.Evaluated()), Bytes(verdict));
  }
}

TEST(DigestTest, IsSetAndIsOfTheVerdictAndItsInput) {
  Scene scene = FullScene();
  v1::Verdict verdict = scene.Evaluated();
  EXPECT_EQ(verdict.digest().size(), 64);
  EXPECT_EQ(Digest(verdict, scene.input), verdict.digest());
}

TEST(DigestTest, DoesNotDependOnWhenItWasEvaluated) {
  Scene scene = FullScene();
  v1::Verdict verdict = scene.Evaluated();
  verdict.mutable_evaluated_at()->set_seconds(1);
  EXPECT_EQ(Digest(verdict, scene.input), verdict.digest());
}

TEST(DigestTest, ChangesWithAnythingElse) {
  const Scene scene = FullScene();
  const std::string digest = scene.Evaluated().digest();
  const std::vector<std::pair<const char*, std::function<void(VerdictInput*)>>> changes = {
      {"evidence of a result",
       [](VerdictInput* input) { input->observations[3].evidence_sha256[5] = 'b'; }},
      {"evidence of a result that counts for nothing",
       [](VerdictInput* input) { input->observations.back().evidence_sha256 = ""; }},
      {"id of a result", [](VerdictInput* input) { input->observations[3].result_id = 99; }},
      {"a result", [](VerdictInput* input) { input->observations.pop_back(); }},
      {"a figure",
       [](VerdictInput* input) {
         input->observations[0].metrics[0].mutable_proportion()->set_trials(101);
       }},
      {"a time", [](VerdictInput* input) { input->observations[0].started_at -= absl::Hours(9); }},
      {"how a criterion is written",
       [](VerdictInput* input) { input->criteria[0].set_threshold("0.01"); }},
      {"why a criterion is there",
       [](VerdictInput* input) { input->criteria[0].set_reason("because"); }},
      {"order of criteria",
       [](VerdictInput* input) { std::swap(input->criteria[0], input->criteria[1]); }},
      {"open tasks", [](VerdictInput* input) { input->tasks.set_pending(1); }},
      {"run", [](VerdictInput* input) { input->run = "run-2"; }},
  };
  for (const auto& [what, change] : changes) {
    VerdictInput changed = scene.input;
    change(&changed);
    EXPECT_NE(Evaluate(changed)->digest(), digest) << what;
  }
}

TEST(CanonicalFormTest, IsWrittenByFieldNumber) {
  v1::GroupVerdict group;
  group.set_window("晚");
  group.set_value(0.5);
  group.add_result_ids(7);
  group.add_result_ids(-8);
  group.set_has_value(true);
  (*group.mutable_reason()->mutable_args())["b"] = "2";
  (*group.mutable_reason()->mutable_args())["a"] = "\"";
  group.mutable_first_at();
  EXPECT_EQ(CanonicalForm(group, "x."),
            "x.2=\"\\xe6\\x99\\x9a\"\n"
            "x.4=3fe0000000000000\n"
            "x.5=1\n"
            "x.13={}\n"
            "x.13.2[\"a\"]=\"\\\"\"\n"
            "x.13.2[\"b\"]=\"2\"\n"
            "x.15[0]=7\n"
            "x.15[1]=-8\n"
            "x.16={}\n");
}

TEST(CanonicalFormTest, KnowsOneZeroAndOneNotANumber) {
  v1::Metric::Samples plus;
  v1::Metric::Samples minus;
  plus.add_values(0.0);
  plus.add_values(std::numeric_limits<double>::quiet_NaN());
  minus.add_values(-0.0);
  minus.add_values(-std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(CanonicalForm(plus, ""), CanonicalForm(minus, ""));
  v1::GroupVerdict zero;
  zero.set_value(-0.0);
  EXPECT_EQ(CanonicalForm(zero, ""), "");
}

}  // namespace
}  // namespace assay::verdict
