// What decides one criterion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/base/message.h"
#include "core/verdict/evaluate.h"
#include "tests/core/verdict/scene.h"

namespace assay::verdict {
namespace {

using testing::ElementsAre;

constexpr auto kPass = v1::CRITERION_DECISION_PASS;
constexpr auto kFail = v1::CRITERION_DECISION_FAIL;
constexpr auto kOpen = v1::CRITERION_DECISION_INCONCLUSIVE;

std::vector<double> Times(double from, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(from + 0.1 * i);
  return values;
}

TEST(CriterionTest, TheIntervalDecidesAndNotThePoint) {
  struct {
    const char* what;
    int results;
    v1::Metric metric;
    const char* name;
    v1::Statistic statistic;
    const char* threshold;
    v1::CriterionDecision decision;
    const char* reason;
  } cases[] = {
      {"no loss in 400 shows at most 1 %", 4, Loss(0, 100), "icmp.loss_ratio",
       v1::STATISTIC_UNSPECIFIED, "1%", kPass, "verdict.meets"},
      {"no loss in 400 does not show at most 0.5 %", 4, Loss(0, 100), "icmp.loss_ratio",
       v1::STATISTIC_UNSPECIFIED, "0.5%", kOpen, "verdict.too_few_for_statistic"},
      {"0.5 % measured does not show at most 1 %", 10, Loss(1, 200), "icmp.loss_ratio",
       v1::STATISTIC_UNSPECIFIED, "1%", kOpen, "verdict.straddles"},
      {"1.5 % measured does not refute at most 1 %", 10, Loss(3, 200), "icmp.loss_ratio",
       v1::STATISTIC_UNSPECIFIED, "1%", kOpen, "verdict.straddles"},
      {"20 % measured refutes at most 1 %", 4, Loss(20, 100), "icmp.loss_ratio",
       v1::STATISTIC_UNSPECIFIED, "1%", kFail, "verdict.violates"},
      {"everything lost refutes it in two results", 2, Loss(20, 20), "icmp.loss_ratio",
       v1::STATISTIC_UNSPECIFIED, "1%", kFail, "verdict.violates"},
      {"a median of 5 to 15 ms is at most 20 ms", 4, Rtt(Times(5, 100)), "icmp.rtt_ms",
       v1::STATISTIC_MEDIAN, "20ms", kPass, "verdict.meets"},
      {"and not at most 5 ms", 4, Rtt(Times(5, 100)), "icmp.rtt_ms", v1::STATISTIC_MEDIAN, "5ms",
       kFail, "verdict.violates"},
      {"20 samples give p95 no upper end", 4, Rtt(Times(5, 5)), "icmp.rtt_ms", v1::STATISTIC_P95,
       "20ms", kOpen, "verdict.too_few_for_statistic"},
      {"20 samples refute a p95 below all of them", 4, Rtt(Times(5, 5)), "icmp.rtt_ms",
       v1::STATISTIC_P95, "4ms", kFail, "verdict.violates"},
      {"a mean of 10 ms is at most 11 ms", 4, Rtt(Times(5, 100)), "icmp.rtt_ms", v1::STATISTIC_MEAN,
       "11ms", kPass, "verdict.meets"},
      {"and not shown to be at most 10 ms", 4, Rtt(Times(5, 100)), "icmp.rtt_ms",
       v1::STATISTIC_MEAN, "10ms", kOpen, "verdict.straddles"},
  };
  for (const auto& c : cases) {
    Scene scene;
    scene.AddCriterion("it", c.name, c.threshold).set_statistic(c.statistic);
    scene.AddMany(c.results, c.metric);

    v1::CriterionVerdict verdict = scene.Criterion();

    EXPECT_EQ(verdict.decision(), c.decision) << c.what;
    EXPECT_EQ(verdict.reason().id(), c.reason) << c.what;
  }
}

TEST(CriterionTest, AtLeastTurnsBothEndsAround) {
  for (auto [threshold, decision] : {std::make_pair("4ms", kPass), std::make_pair("20ms", kFail),
                                     std::make_pair("10ms", kOpen)}) {
    Scene scene;
    scene.AddCriterion("it", "icmp.rtt_ms", threshold).set_comparison(v1::COMPARISON_AT_LEAST);
    scene.AddMany(6, Rtt(Times(5, 100)));
    EXPECT_EQ(scene.Criterion().decision(), decision) << threshold;
  }
}

TEST(CriterionTest, FigureIsReportedWithItsIntervalAndResults) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(4, Loss(0, 100));
  v1::GroupVerdict group = scene.Group();
  EXPECT_TRUE(group.has_value());
  EXPECT_EQ(group.value(), 0);
  EXPECT_EQ(group.interval_low(), 0);
  EXPECT_NEAR(group.interval_high(), 1 - std::pow(0.025, 1.0 / 400), 1e-11);
  EXPECT_EQ(group.samples(), 400);
  EXPECT_EQ(group.effective_samples(), 400);
  EXPECT_EQ(group.design_effect(), 1);
  EXPECT_EQ(group.runs(), 4);
  EXPECT_EQ(group.days(), 1);
  EXPECT_THAT(group.result_ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(group.last_at().seconds() - group.first_at().seconds(), 30 * 60);
  EXPECT_EQ(group.runs_to_decide(), 0);
}

TEST(CriterionTest, UnboundedIntervalsEndAtZeroAndInfinity) {
  Scene scene;
  scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
  scene.AddMany(1, Rtt(Times(5, 100)));
  EXPECT_EQ(scene.Group().interval_low(), 0);
  EXPECT_EQ(scene.Group().interval_high(), std::numeric_limits<double>::infinity());
}

TEST(CriterionTest, OneResultDecidesNothing) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(1, Loss(900, 1000));
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  EXPECT_EQ(scene.Criterion().reason().id(), "verdict.one_result");
}

TEST(CriterionTest, TooFewSamplesDecideNothingEitherWay) {
  for (uint64_t lost : {0, 100}) {
    Scene scene;
    scene.AddCriterion("loss", "icmp.loss_ratio", "1%").set_min_samples(401);
    scene.AddMany(4, Loss(lost, 100));
    EXPECT_EQ(scene.Criterion().decision(), kOpen) << lost;
    EXPECT_EQ(scene.Criterion().reason().id(), "verdict.too_few_samples") << lost;
    scene.input.criteria[0].set_min_samples(400);
    EXPECT_EQ(scene.Criterion().decision(), lost == 0 ? kPass : kFail);
  }
}

TEST(CriterionTest, TooFewDaysDecideNothingEitherWay) {
  for (uint64_t lost : {0, 100}) {
    Scene scene;
    scene.AddCriterion("loss", "icmp.loss_ratio", "1%").set_min_days(2);
    scene.AddMany(4, Loss(lost, 100));
    EXPECT_EQ(scene.Criterion().decision(), kOpen) << lost;
    EXPECT_EQ(scene.Criterion().reason().id(), "verdict.too_few_days") << lost;
    EXPECT_EQ(scene.Group().runs_to_decide(), 1) << lost;
    scene.Add(Loss(lost, 100)).day = absl::CivilDay(2026, 12, 2);
    EXPECT_EQ(scene.Criterion().decision(), lost == 0 ? kPass : kFail);
    EXPECT_EQ(scene.Group().days(), 2);
  }
}

TEST(CriterionTest, SaysHowManyMoreResultsWouldDecide) {
  struct {
    const char* what;
    int results;
    uint64_t lost, sent;
    uint64_t min_samples;
    uint32_t more;
  } cases[] = {
      {"rule of three: 367 clean samples, 8 results of 50", 4, 0, 50, 0, 4},
      {"four clean results at least", 1, 0, 400, 0, 3},
      {"as many as the minimum asks for", 4, 0, 100, 1000, 6},
      {"none where the figure equals the threshold", 4, 1, 100, 0, 0},
  };
  for (const auto& c : cases) {
    Scene scene;
    scene.AddCriterion("loss", "icmp.loss_ratio", "1%").set_min_samples(c.min_samples);
    scene.AddMany(c.results, Loss(c.lost, c.sent));
    ASSERT_EQ(scene.Criterion().decision(), kOpen) << c.what;
    EXPECT_EQ(scene.Group().runs_to_decide(), c.more) << c.what;
    scene.AddMany(static_cast<int>(c.more), Loss(c.lost, c.sent));
    if (c.more > 0) {
      EXPECT_EQ(scene.Criterion().decision(), kPass) << c.what;
    }
  }
}

TEST(CriterionTest, SaysHowManyMoreResultsWouldDecideAQuantile) {
  Scene scene;
  scene.AddCriterion("p95", "icmp.rtt_ms", "20ms").set_statistic(v1::STATISTIC_P95);
  scene.AddMany(4, Rtt(Times(5, 15)));
  const uint32_t more = scene.Group().runs_to_decide();
  ASSERT_GT(more, 0);
  scene.AddMany(static_cast<int>(more) - 1, Rtt(Times(5, 15)));
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  scene.AddMany(1, Rtt(Times(5, 15)));
  EXPECT_EQ(scene.Criterion().decision(), kPass);
}

TEST(CriterionTest, ResultsThatDifferAreWorthLess) {
  Scene alike;
  Scene apart;
  for (Scene* scene : {&alike, &apart}) {
    scene->AddCriterion("loss", "icmp.loss_ratio", "8%");
    for (int i = 0; i < 10; ++i) scene->Add(Loss(scene == &alike ? 5 : i % 5 == 0 ? 25 : 0, 100));
  }
  EXPECT_EQ(alike.Group().value(), apart.Group().value());
  EXPECT_EQ(alike.Criterion().decision(), kPass);
  EXPECT_EQ(apart.Criterion().decision(), kOpen);
  EXPECT_GT(apart.Group().design_effect(), 10);
}

// ---- results that carry no figure

TEST(UselessResultTest, FailedAndUnmeasurableResultsAreNotCounted) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(4, Loss(0, 100));
  scene.AddUseless(v1::OUTCOME_FAILED, "probe.first");
  // Even where one brings figures along.
  scene.AddUseless(v1::OUTCOME_NOT_MEASURABLE, "probe.second").metrics = {Loss(100, 100)};
  v1::GroupVerdict group = scene.Group();
  EXPECT_EQ(group.decision(), kPass);
  EXPECT_EQ(group.samples(), 400);
  ASSERT_EQ(group.notes_size(), 2);
  EXPECT_EQ(group.notes(0).id(), "verdict.note_useless");
  EXPECT_EQ(group.notes(0).args().at("count"), "2");
  EXPECT_EQ(group.notes(1).id(), "probe.first");
}

TEST(UselessResultTest, WithNothingElseTheyAreTheReason) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddUseless(v1::OUTCOME_NOT_MEASURABLE, "probe.no_icmp");
  scene.AddUseless(v1::OUTCOME_FAILED, "probe.other");
  v1::GroupVerdict group = scene.Group();
  EXPECT_EQ(group.decision(), kOpen);
  EXPECT_EQ(group.reason().id(), "verdict.all_useless");
  EXPECT_EQ(group.notes(1).id(), "probe.no_icmp");
  EXPECT_FALSE(group.has_value());
}

TEST(UselessResultTest, FiguresThatCannotBeRightAreNotCounted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const v1::Metric& metric : {Rtt({1, nan}), Rtt({1, -INFINITY}), [] {
                                     v1::Metric wrong = Loss(1, 2);
                                     wrong.set_name("icmp.rtt_ms");
                                     return wrong;
                                   }()}) {
    Scene scene;
    scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
    scene.AddMany(3, metric);
    EXPECT_EQ(scene.Group().reason().id(), "verdict.all_useless");
    EXPECT_EQ(scene.Group().notes(1).id(), "verdict.bad_figures");
  }
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(3, Loss(5, 4));
  EXPECT_EQ(scene.Group().reason().id(), "verdict.all_useless");
}

TEST(UselessResultTest, WhereNothingAnsweredThereIsNoTimeToJudge) {
  Scene scene;
  scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
  scene.AddMany(3, Rtt({}));
  scene.AddMany(1, Loss(100, 100));
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  EXPECT_EQ(scene.Criterion().reason().id(), "verdict.nothing_answered");
}

TEST(UselessResultTest, NoResultAtAllIsInconclusive) {
  Scene scene;
  scene.AddCriterion("rtt", "icmp.rtt_ms", "20ms");
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  EXPECT_EQ(scene.Criterion().reason().id(), "verdict.no_results");
}

// ---- marks

void Mark(Scene& scene, v1::Mark mark, bool on_metric) {
  for (Observation& observation : scene.input.observations) {
    if (on_metric) {
      observation.metrics[0].add_marks(mark);
    } else {
      observation.marks.push_back(mark);
    }
  }
}

TEST(MarkTest, MarkedFiguresNeverPass) {
  for (int mark = v1::MARK_CACHED; mark <= v1::Mark_MAX; ++mark) {
    for (bool on_metric : {false, true}) {
      Scene scene;
      scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
      scene.AddMany(10, Loss(0, 100));
      Mark(scene, static_cast<v1::Mark>(mark), on_metric);
      EXPECT_EQ(scene.Criterion().decision(), kOpen) << mark;
      EXPECT_EQ(scene.Criterion().reason().id(), "verdict.only_marked") << mark;
    }
  }
}

TEST(MarkTest, AnUnspecifiedMarkIsNone) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(4, Loss(0, 100));
  Mark(scene, v1::MARK_UNSPECIFIED, true);
  EXPECT_EQ(scene.Criterion().decision(), kPass);
}

TEST(MarkTest, OnlyCachedFiguresMayHelpToFail) {
  struct {
    std::vector<v1::Mark> marks;
    v1::CriterionDecision decision;
  } cases[] = {{{v1::MARK_CACHED}, kFail},
               {{v1::MARK_CONTENDED}, kOpen},
               {{v1::MARK_TRUNCATED}, kOpen},
               {{v1::MARK_CLOCK}, kOpen},
               {{v1::MARK_CACHED, v1::MARK_CONTENDED}, kOpen}};
  for (const auto& c : cases) {
    Scene scene;
    scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
    scene.AddMany(4, Loss(50, 100));
    for (v1::Mark mark : c.marks) Mark(scene, mark, false);
    EXPECT_EQ(scene.Criterion().decision(), c.decision) << c.marks[0];
  }
}

TEST(MarkTest, CleanResultsDecideBesideMarkedOnes) {
  for (auto [lost, decision] : {std::make_pair(0, kPass), std::make_pair(60, kFail)}) {
    Scene scene;
    scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
    // The marked ones say the opposite.
    scene.AddMany(4, Loss(60 - lost, 100));
    Mark(scene, v1::MARK_CONTENDED, false);
    scene.AddMany(4, Loss(lost, 100));
    EXPECT_EQ(scene.Criterion().decision(), decision);
    EXPECT_THAT(scene.Group().result_ids(), ElementsAre(5, 6, 7, 8));
    EXPECT_EQ(scene.Group().notes(0).id(), "verdict.note_marked");
  }
}

TEST(MarkTest, TheMarkIsNamedWhereCleanResultsDoNotSuffice) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(4, Loss(0, 100));
  Mark(scene, v1::MARK_CONTENDED, false);
  scene.AddMany(2, Loss(0, 100));
  v1::Message reason = scene.Criterion().reason();
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  EXPECT_EQ(reason.id(), "verdict.marked_left_out");
  EXPECT_EQ(reason.args().at("marks"), "contended");
}

// ---- groups

TEST(GroupTest, EveryVantageAndWindowMustPass) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").clear_where();
  for (const char* vantage : {"sz-office", "gz-office"}) {
    for (const char* window : {"evening", "night"}) scene.AddMany(4, Loss(0, 100), vantage, window);
  }
  ASSERT_EQ(scene.Criterion().groups_size(), 4);
  EXPECT_EQ(scene.Criterion().decision(), kPass);

  scene.AddMany(8, Loss(100, 100), "gz-office", "night");
  v1::CriterionVerdict verdict = scene.Criterion();
  EXPECT_EQ(verdict.decision(), kFail);
  EXPECT_EQ(verdict.groups(verdict.deciding_group()).vantage(), "gz-office");
  EXPECT_EQ(verdict.groups(verdict.deciding_group()).window(), "night");
}

TEST(GroupTest, AFailWinsOverAnInconclusiveGroup) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").clear_where();
  scene.AddMany(4, Loss(100, 100), "gz-office", "night");
  EXPECT_EQ(scene.Criterion().decision(), kFail);
}

TEST(GroupTest, AMissingVantageOrWindowIsInconclusive) {
  struct {
    const char* what;
    std::vector<std::pair<const char*, const char*>> measured;
  } cases[] = {
      {"a vantage is missing in one window",
       {{"sz-office", "evening"}, {"sz-office", "night"}, {"gz-office", "evening"}}},
      {"a window is missing", {{"sz-office", "evening"}, {"gz-office", "evening"}}},
      {"a vantage is missing", {{"sz-office", "evening"}, {"sz-office", "night"}}},
  };
  using Groupings = std::vector<v1::Grouping>;
  for (const auto& c : cases) {
    for (const Groupings& per : {Groupings{}, Groupings{v1::GROUPING_VANTAGE},
                                 Groupings{v1::GROUPING_WINDOW}, Groupings{v1::GROUPING_POOLED}}) {
      Scene scene;
      v1::Criterion& criterion = scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
      criterion.clear_where();
      for (v1::Grouping grouping : per) criterion.add_per(grouping);
      for (auto [vantage, window] : c.measured) scene.AddMany(20, Loss(0, 100), vantage, window);
      EXPECT_EQ(scene.Criterion().decision(), kOpen) << c.what << ", " << per.size();
    }
  }
}

TEST(GroupTest, PoolingMakesOneGroupOfEverything) {
  Scene scene;
  v1::Criterion& criterion = scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  criterion.clear_where();
  criterion.add_per(v1::GROUPING_POOLED);
  for (const char* vantage : {"sz-office", "gz-office"}) {
    for (const char* window : {"evening", "night"}) scene.AddMany(1, Loss(0, 100), vantage, window);
  }
  ASSERT_EQ(scene.Criterion().groups_size(), 1);
  EXPECT_EQ(scene.Group().samples(), 400);
  EXPECT_EQ(scene.Criterion().decision(), kPass);
}

TEST(GroupTest, AMissingProbeKeepsItsGroupFromPassing) {
  Scene scene;
  v1::Probe* second = scene.input.plan.add_probes();
  second->set_name("echo-large");
  second->mutable_icmp();
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
  scene.AddMany(8, Loss(0, 100));
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  EXPECT_EQ(scene.Criterion().reason().id(), "verdict.missing_cell");
  EXPECT_EQ(scene.Criterion().reason().args().at("probe"), "echo-large");

  scene.input.criteria[0].mutable_where()->add_probes("echo");
  EXPECT_EQ(scene.Criterion().decision(), kPass);
}

TEST(GroupTest, WhatTheCriterionNamesAndThePlanLacksIsAGap) {
  struct {
    const char* gap;
    void (*name)(v1::CriterionScope*);
  } cases[] = {
      {"bj-office", [](v1::CriterionScope* scope) { scope->add_vantages("bj-office"); }},
      {"carrier:mobile",
       [](v1::CriterionScope* scope) {
         scope->clear_vantages();
         scope->add_carriers("telecom");
         scope->add_carriers("mobile");
       }},
      {"kind:overseas",
       [](v1::CriterionScope* scope) {
         scope->clear_vantages();
         scope->add_carriers("telecom");
         scope->add_vantage_kinds(v1::VANTAGE_KIND_OFFICE);
         scope->add_vantage_kinds(v1::VANTAGE_KIND_OVERSEAS);
       }},
      {"window:noon", [](v1::CriterionScope* scope) { scope->add_windows("noon"); }},
      {"probe:ssh",
       [](v1::CriterionScope* scope) {
         scope->add_probes("echo");
         scope->add_probes("ssh");
       }},
  };
  for (const auto& c : cases) {
    Scene scene;
    c.name(scene.AddCriterion("loss", "icmp.loss_ratio", "1%").mutable_where());
    scene.AddMany(4, Loss(0, 100));
    v1::CriterionVerdict verdict = scene.Criterion();
    EXPECT_EQ(verdict.decision(), kOpen) << c.gap;
    EXPECT_EQ(verdict.reason().id(), "verdict.gap") << c.gap;
    EXPECT_EQ(verdict.reason().args().at("name"), c.gap);
    EXPECT_EQ(verdict.groups(0).decision(), kPass) << c.gap;
  }
}

TEST(GroupTest, ScopeSelectsByVantageKindCarrierAndWindow) {
  Scene scene;
  scene.AddVantage("sg-users", v1::VANTAGE_KIND_OVERSEAS, "singtel");
  auto groups_of = [&](auto narrow) {
    v1::Criterion& criterion = scene.AddCriterion("loss", "icmp.loss_ratio", "1%");
    criterion.clear_where();
    narrow(criterion.mutable_where());
    std::vector<std::string> names;
    const v1::CriterionVerdict verdict = scene.Criterion();
    for (const v1::GroupVerdict& group : verdict.groups()) {
      names.push_back(group.vantage() + "/" + group.window());
    }
    scene.input.criteria.clear();
    return names;
  };
  EXPECT_THAT(groups_of([](v1::CriterionScope*) {}),
              ElementsAre("sz-office/evening", "sz-office/night", "gz-office/evening",
                          "gz-office/night", "sg-users/evening", "sg-users/night"));
  EXPECT_THAT(groups_of([](auto* scope) { scope->add_vantage_kinds(v1::VANTAGE_KIND_OVERSEAS); }),
              ElementsAre("sg-users/evening", "sg-users/night"));
  EXPECT_THAT(groups_of([](auto* scope) {
                scope->add_carriers("unicom");
                scope->add_windows("night");
              }),
              ElementsAre("gz-office/night"));
}

TEST(GroupTest, ProbesOnlyPromiseTheVantagesAndWindowsTheyRunIn) {
  Scene scene;
  scene.input.plan.mutable_probes(0)->mutable_from()->add_carriers("telecom");
  scene.input.plan.mutable_probes(0)->add_windows("night");
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").clear_where();
  ASSERT_EQ(scene.Criterion().groups_size(), 1);
  EXPECT_EQ(scene.Group().vantage(), "sz-office");
  EXPECT_EQ(scene.Group().window(), "night");
}

TEST(GroupTest, ProbesOnTheServerItselfFormAGroupWithoutVantage) {
  Scene scene;
  scene.input.plan.mutable_probes(0)->mutable_from()->set_server(true);
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").mutable_where()->clear_vantages();
  scene.AddMany(4, Loss(0, 100), "");
  ASSERT_EQ(scene.Criterion().groups_size(), 1);
  EXPECT_EQ(scene.Group().vantage(), "");
  EXPECT_EQ(scene.Group().decision(), kPass);
  EXPECT_EQ(scene.Group().reason().args().at("where"), "hk-gpu-01 / evening");
}

TEST(GroupTest, ACriterionThatNoProbeMeasuresIsInconclusive) {
  Scene scene;
  scene.AddCriterion("connect", "tcp.connect_ms", "50ms");
  EXPECT_EQ(scene.Criterion().decision(), kOpen);
  EXPECT_EQ(scene.Criterion().deciding_group(), -1);
  EXPECT_EQ(scene.Criterion().reason().id(), "verdict.not_in_plan");
}

TEST(GroupTest, ResultsOutsideThePlanAreIgnored) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").clear_where();
  for (const char* vantage : {"sz-office", "gz-office"}) {
    for (const char* window : {"evening", "night"}) scene.AddMany(4, Loss(0, 100), vantage, window);
  }
  scene.AddMany(9, Loss(100, 100), "elsewhere");
  scene.AddMany(9, Loss(100, 100), "sz-office", "noon");
  scene.Add(Loss(100, 100)).probe = "other";
  EXPECT_EQ(scene.Criterion().decision(), kPass);
}

TEST(GroupTest, OfEquallyBadGroupsTheWorseFigureDecides) {
  Scene scene;
  scene.AddCriterion("loss", "icmp.loss_ratio", "1%").clear_where();
  int lost = 20;
  for (const char* vantage : {"sz-office", "gz-office"}) {
    for (const char* window : {"night", "evening"}) {
      scene.AddMany(4, Loss(lost, 100), vantage, window);
      lost = lost == 20 ? 80 : 40;
    }
  }
  v1::CriterionVerdict verdict = scene.Criterion();
  EXPECT_EQ(verdict.deciding_group(), 0) << "sz-office, evening lost 80 %";
  EXPECT_EQ(verdict.reason().SerializeAsString().size(),
            verdict.groups(0).reason().SerializeAsString().size());
  EXPECT_EQ(verdict.reason().args().at("value"), "80 %");
}

}  // namespace
}  // namespace assay::verdict
