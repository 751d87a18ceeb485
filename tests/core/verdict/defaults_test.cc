// Criteria before anything is decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/message.h"
#include "core/verdict/evaluate.h"
#include "tests/core/verdict/scene.h"

namespace assay::verdict {
namespace {

using testing::ElementsAre;

v1::Criterion On(const std::string& metric) {
  v1::Criterion criterion;
  criterion.set_id("it");
  criterion.set_metric(metric);
  return criterion;
}

TEST(WithDefaultsTest, FillsInWhatTheCatalogueKnows) {
  v1::Criterion loss = *WithDefaults(On("icmp.loss_ratio"));
  EXPECT_EQ(loss.statistic(), v1::STATISTIC_RATIO);
  EXPECT_EQ(loss.comparison(), v1::COMPARISON_AT_MOST);
  EXPECT_EQ(loss.confidence_ratio(), 0.95);
  EXPECT_THAT(loss.per(), ElementsAre(v1::GROUPING_VANTAGE, v1::GROUPING_WINDOW));
  EXPECT_EQ(loss.min_days(), 1);
  EXPECT_EQ(loss.severity(), v1::SEVERITY_MUST);
  EXPECT_EQ(WithDefaults(On("icmp.rtt_ms"))->statistic(), v1::STATISTIC_MEDIAN);
}

TEST(WithDefaultsTest, KeepsWhatIsGiven) {
  v1::Criterion criterion = On("icmp.rtt_ms");
  criterion.set_statistic(v1::STATISTIC_P99);
  criterion.set_comparison(v1::COMPARISON_AT_LEAST);
  criterion.set_confidence_ratio(0.99);
  criterion.add_per(v1::GROUPING_POOLED);
  criterion.set_min_days(3);
  criterion.set_severity(v1::SEVERITY_INFO);
  EXPECT_EQ(WithDefaults(criterion)->SerializeAsString(), criterion.SerializeAsString());
}

TEST(WithDefaultsTest, RefusesWhatMakesNoSense) {
  struct {
    const char* id;
    const char* metric;
    void (*change)(v1::Criterion*);
  } cases[] = {
      {"verdict.unknown_metric", "icmp.lossratio", [](v1::Criterion*) {}},
      {"verdict.impossible_statistic", "icmp.loss_ratio",
       [](v1::Criterion* it) { it->set_statistic(v1::STATISTIC_P95); }},
      {"verdict.impossible_statistic", "icmp.rtt_ms",
       [](v1::Criterion* it) { it->set_statistic(v1::STATISTIC_RATIO); }},
      {"verdict.pooled_not_alone", "icmp.rtt_ms",
       [](v1::Criterion* it) {
         it->add_per(v1::GROUPING_POOLED);
         it->add_per(v1::GROUPING_WINDOW);
       }},
      {"verdict.impossible_confidence", "icmp.rtt_ms",
       [](v1::Criterion* it) { it->set_confidence_ratio(1); }},
      {"verdict.impossible_confidence", "icmp.rtt_ms",
       [](v1::Criterion* it) { it->set_confidence_ratio(0.5); }},
  };
  for (const auto& c : cases) {
    v1::Criterion criterion = On(c.metric);
    c.change(&criterion);
    absl::Status status = WithDefaults(criterion).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.id;
    ASSERT_TRUE(MessageOf(status).has_value()) << c.id;
    EXPECT_EQ(MessageOf(status)->id(), c.id);
  }
}

TEST(EvaluateTest, RefusesAThresholdOfAnotherUnit) {
  Scene scene;
  scene.AddCriterion("rtt", "icmp.rtt_ms", "5%");
  EXPECT_EQ(Evaluate(scene.input).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(EvaluateTest, RefusesAWindowWithoutATimeZone) {
  Scene scene;
  scene.input.plan.clear_time_zone();
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  EXPECT_EQ(Evaluate(scene.input).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MergeCriteriaTest, ThePlansCriterionReplacesTheProfilesOfTheSameId) {
  v1::Profile profile;
  v1::Plan plan;
  for (const char* id : {"a", "b"}) profile.add_criteria()->set_id(id);
  plan.add_criteria()->set_id("c");
  *plan.add_criteria() = On("icmp.rtt_ms");
  plan.mutable_criteria(1)->set_id("a");
  std::vector<std::string> merged;
  for (const v1::Criterion& criterion : MergeCriteria(profile, plan)) {
    merged.push_back(criterion.id() + criterion.metric());
  }
  EXPECT_THAT(merged, ElementsAre("aicmp.rtt_ms", "b", "c"));
}

}  // namespace
}  // namespace assay::verdict
