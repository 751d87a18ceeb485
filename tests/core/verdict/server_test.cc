// What decides a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/verdict/evaluate.h"
#include "tests/core/verdict/scene.h"

namespace assay::verdict {
namespace {

constexpr auto kAccepted = v1::SERVER_DECISION_ACCEPTED;
constexpr auto kRejected = v1::SERVER_DECISION_REJECTED;
constexpr auto kUnsettled = v1::SERVER_DECISION_INCONCLUSIVE;

// Criteria on loss that pass, fail and stay open with 4 x (0 of 100) lost.
constexpr const char* kPassing = "1%";
constexpr const char* kUndecided = "0.1%";

class ServerTest : public testing::Test {
 protected:
  void SetUp() override { scene_.AddMany(4, Loss(0, 100)); }

  void Must(const std::string& id, const char* threshold) {
    scene_.AddCriterion(id, "icmp.loss_ratio", threshold);
  }
  // Fails: the delay is 50 ms.
  void Failing(const std::string& id, v1::Severity severity) {
    for (Observation& observation : scene_.input.observations) {
      if (observation.metrics.size() == 1) {
        observation.metrics.push_back(Rtt(std::vector<double>(50, 50.0)));
      }
    }
    scene_.AddCriterion(id, "icmp.rtt_ms", "10ms").set_severity(severity);
  }

  Scene scene_;
};

TEST_F(ServerTest, IsAcceptedWhenEveryMustPasses) {
  Must("a", kPassing);
  Must("b", kPassing);
  EXPECT_EQ(scene_.Evaluated().decision(), kAccepted);
  EXPECT_EQ(scene_.Evaluated().reason().id(), "verdict.accepted");
}

TEST_F(ServerTest, IsRejectedWhenAnyMustFails) {
  Must("a", kUndecided);
  Failing("delay", v1::SEVERITY_MUST);
  EXPECT_EQ(scene_.Evaluated().decision(), kRejected);
  EXPECT_EQ(scene_.Evaluated().reason().args().at("criteria"), "delay");
  EXPECT_EQ(scene_.Evaluated().reason().args().at("musts"), "2");
}

TEST_F(ServerTest, IsInconclusiveWhenAMustIsUndecided) {
  Must("a", kPassing);
  Must("b", kUndecided);
  EXPECT_EQ(scene_.Evaluated().decision(), kUnsettled);
  EXPECT_EQ(scene_.Evaluated().reason().id(), "verdict.undecided");
  EXPECT_EQ(scene_.Evaluated().reason().args().at("criteria"), "b");
}

TEST_F(ServerTest, OnlyMustsDecide) {
  for (v1::Severity severity : {v1::SEVERITY_SHOULD, v1::SEVERITY_INFO}) {
    scene_.input.criteria.clear();
    Must("a", kPassing);
    Failing("delay", severity);
    EXPECT_EQ(scene_.Evaluated().criteria(1).decision(), v1::CRITERION_DECISION_FAIL);
    EXPECT_EQ(scene_.Evaluated().decision(), kAccepted);
  }
}

TEST_F(ServerTest, NothingIsAcceptedWithoutAMust) {
  EXPECT_EQ(scene_.Evaluated().decision(), kUnsettled);
  Must("a", kPassing);
  scene_.input.criteria[0].set_severity(v1::SEVERITY_SHOULD);
  EXPECT_EQ(scene_.Evaluated().decision(), kUnsettled);
  EXPECT_EQ(scene_.Evaluated().reason().id(), "verdict.no_musts");
}

TEST_F(ServerTest, IsNotAcceptedWhileTasksAreOpen) {
  Must("a", kPassing);
  for (auto open : {&v1::TaskCounts::set_pending, &v1::TaskCounts::set_leased}) {
    scene_.input.tasks.Clear();
    scene_.input.tasks.set_total(5);
    scene_.input.tasks.set_done(4);
    (scene_.input.tasks.*open)(1);
    v1::Verdict verdict = scene_.Evaluated();
    EXPECT_EQ(verdict.decision(), kUnsettled);
    EXPECT_EQ(verdict.reason().id(), "verdict.still_running");
    EXPECT_EQ(verdict.criteria(0).decision(), v1::CRITERION_DECISION_PASS);
    EXPECT_EQ(verdict.notes(0).id(), "verdict.preliminary");
    EXPECT_EQ(verdict.tasks_open(), 1);
  }
}

TEST_F(ServerTest, IsRejectedWhileTasksAreOpen) {
  Failing("delay", v1::SEVERITY_MUST);
  scene_.input.tasks.set_pending(1);
  EXPECT_EQ(scene_.Evaluated().decision(), kRejected);
  EXPECT_EQ(scene_.Evaluated().notes(0).id(), "verdict.preliminary");
}

TEST_F(ServerTest, TasksThatCameToNothingAreNotedAndDoNotDecide) {
  Must("a", kPassing);
  scene_.input.tasks.set_failed(1);
  scene_.input.tasks.set_missed(2);
  scene_.input.tasks.set_cancelled(3);
  v1::Verdict verdict = scene_.Evaluated();
  EXPECT_EQ(verdict.decision(), kAccepted);
  ASSERT_EQ(verdict.notes_size(), 1);
  EXPECT_EQ(verdict.notes(0).id(), "verdict.note_tasks");
  EXPECT_EQ(verdict.notes(0).args().at("missed"), "2");
}

// ---- only off-peak data can never accept a route

class PeakTest : public testing::Test {
 protected:
  // A passing criterion on one vantage and window.
  void Measured(const std::string& vantage, const std::string& window) {
    scene_.AddMany(4, Loss(0, 100), vantage, window);
    v1::Criterion& criterion =
        scene_.AddCriterion(vantage + "-" + window, "icmp.loss_ratio", kPassing);
    criterion.mutable_where()->set_vantages(0, vantage);
    criterion.mutable_where()->set_windows(0, window);
  }

  Scene scene_;
};

TEST_F(PeakTest, OffPeakDataAloneDoNotAcceptARoute) {
  Measured("sz-office", "night");
  v1::Verdict verdict = scene_.Evaluated();
  EXPECT_EQ(verdict.criteria(0).decision(), v1::CRITERION_DECISION_PASS);
  EXPECT_EQ(verdict.decision(), kUnsettled);
  EXPECT_EQ(verdict.reason().id(), "verdict.only_off_peak");
  EXPECT_EQ(verdict.reason().args().at("places"), "sz-office");
}

TEST_F(PeakTest, PeakDataOfTheSameRouteDo) {
  Measured("sz-office", "night");
  Measured("sz-office", "evening");
  EXPECT_EQ(scene_.Evaluated().decision(), kAccepted);
}

TEST_F(PeakTest, PeakDataOfAnotherRouteDoNot) {
  Measured("sz-office", "evening");
  Measured("gz-office", "night");
  EXPECT_EQ(scene_.Evaluated().decision(), kUnsettled);
  EXPECT_EQ(scene_.Evaluated().reason().args().at("places"), "gz-office");
}

TEST_F(PeakTest, PeakDataBehindAShouldDoNot) {
  Measured("sz-office", "night");
  Measured("sz-office", "evening");
  scene_.input.criteria[1].set_severity(v1::SEVERITY_SHOULD);
  EXPECT_EQ(scene_.Evaluated().decision(), kUnsettled);
}

TEST_F(PeakTest, AWindowWithoutARoleIsNotPeak) {
  scene_.AddWindow("now", v1::WINDOW_ROLE_UNSPECIFIED);
  Measured("sz-office", "now");
  EXPECT_EQ(scene_.Evaluated().decision(), kUnsettled);
}

TEST_F(PeakTest, ServicesAreNotRoutes) {
  v1::Probe* page = scene_.input.plan.add_probes();
  page->set_name("page");
  page->mutable_http();
  v1::Criterion& criterion = scene_.AddCriterion("page", "http.failure_ratio", kPassing);
  criterion.mutable_where()->set_windows(0, "night");
  v1::Metric metric = Loss(0, 100);
  metric.set_name("http.failure_ratio");
  for (int i = 0; i < 4; ++i) {
    Observation& observation = scene_.Add(metric);
    observation.window = "night";
    observation.probe = "page";
  }
  EXPECT_EQ(scene_.Evaluated().decision(), kAccepted);
}

}  // namespace
}  // namespace assay::verdict
