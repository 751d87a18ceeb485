// One link: loss to the packet, delays by distribution, the bottleneck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/pathsim/test/lab.h"

namespace assay::pathsim {
namespace {

using ::testing::ElementsAre;

// Sends `count` packets, one a millisecond, and says which ordinals arrived.
std::vector<uint64_t> Arrived(Lab& lab, int count) {
  for (int i = 0; i < count; ++i) lab.Send(absl::Milliseconds(i), Lab::Udp(Lab::Ip()));
  lab.Finish();
  std::vector<uint64_t> arrived;
  for (const Delivery& delivery : lab.To(Direction::kForward)) arrived.push_back(delivery.packet);
  return arrived;
}

std::vector<double> DelaysMs(const std::string& jitter, int count) {
  Lab lab(absl::StrCat(
      "hops: [{v4: 203.0.113.1, forward: {delay: 10ms, reorder: true, jitter: ", jitter, "}}]"));
  Arrived(lab, count);
  std::vector<double> delays;
  for (const Delivery& delivery : lab.To(Direction::kForward)) {
    delays.push_back(absl::ToDoubleMilliseconds(delivery.due - delivery.sent));
  }
  std::sort(delays.begin(), delays.end());
  return delays;
}

TEST(LossTest, ListedPacketsAndNoOthersAreLost) {
  Lab lab("hops: [{v4: 203.0.113.1, forward: {loss: {packets: [2, 5-7]}}}]");
  EXPECT_THAT(Arrived(lab, 9), ElementsAre(1, 3, 4, 8, 9));
  EXPECT_EQ(lab.Events(What::kDropped, Reason::kLoss).size(), 4u);
}

TEST(LossTest, EveryPacketIsDeliveredOrItsLossIsOnRecord) {
  Lab lab("hops: [{v4: 203.0.113.1, forward: {loss: 10%}}, {forward: {loss: 5%}}]");
  size_t arrived = Arrived(lab, 20000).size();
  size_t lost = lab.Events(What::kDropped, Reason::kLoss).size();
  EXPECT_EQ(arrived + lost, 20000u);
  // 1 - 0.9 * 0.95 = 14.5 %; six standard deviations are 1.5 %.
  EXPECT_NEAR(static_cast<double>(lost) / 20000, 0.145, 0.015);
}

TEST(LossTest, GilbertLosesInBurstsOfTheGivenMeanLength) {
  Lab lab("hops: [{forward: {loss: {gilbert: {enter: 1%, leave: 20%}}}}]");
  std::vector<uint64_t> arrived = Arrived(lab, 50000);
  double lost = 50000.0 - static_cast<double>(arrived.size());
  int bursts = 0;
  for (size_t i = 1; i < arrived.size(); ++i) bursts += arrived[i] != arrived[i - 1] + 1;
  EXPECT_NEAR(lost / 50000, 0.01 / 0.21, 0.01) << "enter / (enter + leave)";
  EXPECT_NEAR(lost / bursts, 5, 0.75) << "1 / leave";
}

TEST(LossTest, AProtocolsLossLeavesTheOthersAlone) {
  Lab lab("hops: [{forward: {loss: {every: 2, protocol: tcp}}}]");
  for (int i = 0; i < 10; ++i) {
    lab.Send(absl::Milliseconds(i), BuildTcp(Lab::Ip(), 1, 443, 0, 2, {}));
    lab.Send(absl::Milliseconds(i), BuildEchoRequest(Lab::Ip(), 1, 1, {}));
  }
  lab.Finish();
  EXPECT_EQ(lab.To(Direction::kForward).size(), 15u);
}

TEST(LossTest, TheSeedDecidesAndAHopMoreChangesNothingElsewhere) {
  auto run = [](const std::string& rest) {
    Lab lab(rest);
    return Arrived(lab, 500);
  };
  std::string hop = "{name: a, forward: {loss: 20%}}";
  auto first = run("seed: 4\nhops: [" + hop + "]");
  EXPECT_EQ(first, run("seed: 4\nhops: [" + hop + "]"));
  EXPECT_EQ(first, run("seed: 4\nhops: [{name: z}, " + hop + "]"));
  EXPECT_NE(first, run("seed: 5\nhops: [" + hop + "]"));
}

TEST(DuplicateTest, CopiesAreOnRecordAndArriveWithTheOriginal) {
  Lab lab("hops: [{forward: {delay: 1ms, duplicate: {packets: 2}}}]");
  Arrived(lab, 3);
  EXPECT_EQ(lab.To(Direction::kForward).size(), 4u);
  ASSERT_EQ(lab.Events(What::kDuplicated).size(), 1u);
  EXPECT_EQ(lab.Events(What::kDuplicated)[0].packet, 2u);
}

TEST(DelayTest, IsTheSumOfTheLinksEachWay) {
  Lab lab(
      "hops: [{v4: 203.0.113.1, forward: {delay: 1ms}, reverse: {delay: 20ms}},"
      "{v4: 203.0.113.2, forward: {delay: 300us}, reverse: {delay: 4ms}}]",
      "  forward: {delay: 50ms}\n  reverse: {delay: 60ms}\n");
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip()));
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, 2)));
  lab.Send(absl::Milliseconds(100), Lab::Udp(Lab::BackIp()), Direction::kReverse);
  lab.Finish();
  EXPECT_EQ(lab.To(Direction::kForward)[0].due, absl::Microseconds(51300));
  EXPECT_EQ(lab.To(Direction::kReverse)[0].due, absl::Microseconds(1000 + 300 + 4000 + 20000));
  EXPECT_EQ(lab.To(Direction::kReverse)[1].due, absl::Milliseconds(184));
}

TEST(DelayTest, JitterFollowsItsDistribution) {
  auto at = [](const std::vector<double>& sorted, double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size()))] - 10;
  };
  const int n = 20000;
  auto uniform = DelaysMs("{distribution: uniform, spread: 8ms}", n);
  EXPECT_GE(uniform.front(), 10);
  EXPECT_LT(uniform.back(), 18);
  for (double share : {0.1, 0.5, 0.9}) EXPECT_NEAR(at(uniform, share), 8 * share, 0.2);
  auto normal = DelaysMs("{distribution: normal, deviation: 1ms}", n);
  EXPECT_NEAR(at(normal, 0.5), 0, 0.05);
  EXPECT_NEAR(at(normal, 0.8413), 1, 0.05);
  auto lognormal = DelaysMs("{distribution: lognormal, median: 2ms, sigma: 0.5}", n);
  EXPECT_NEAR(at(lognormal, 0.5), 2, 0.05);
  EXPECT_NEAR(at(lognormal, 0.8413), 2 * std::exp(0.5), 0.15);
  auto pareto = DelaysMs("{distribution: pareto, scale: 3ms, shape: 2, most: 50ms}", n);
  EXPECT_NEAR(at(pareto, 0.5), 3 * (std::sqrt(2) - 1), 0.1);
  EXPECT_NEAR(at(pareto, 0.96), 3 * 4, 1);
  EXPECT_EQ(pareto.back(), 60);
}

TEST(DelayTest, PacketsOvertakeOnlyWhereTheyMay) {
  for (bool may : {false, true}) {
    Lab lab(absl::StrCat("hops: [{forward: {delay: 5ms, reorder: ", may ? "true" : "false",
                         ", jitter: {distribution: uniform, spread: 20ms}}}]"));
    std::vector<uint64_t> arrived = Arrived(lab, 500);
    EXPECT_EQ(arrived.size(), 500u);
    EXPECT_EQ(std::is_sorted(arrived.begin(), arrived.end()), !may);
  }
}

TEST(DelayTest, LatePacketsArriveLateAndHoldNobodyUp) {
  Lab lab("hops: [{forward: {delay: 5ms, late: {packets: 2, by: 3s}}}]");
  EXPECT_THAT(Arrived(lab, 4), ElementsAre(1, 3, 4, 2));
  EXPECT_EQ(lab.To(Direction::kForward).back().due, absl::Milliseconds(3006));
}

TEST(BottleneckTest, PassesItsRateAndDropsWhatTheQueueCannotHold) {
  Lab lab("hops: [{forward: {delay: 10ms, rate: 10Mbps, queue: 50kB}}]");
  // 20 Mbit/s for two seconds: 2,500 packets of 1,000 bytes a second.
  for (int i = 0; i < 5000; ++i) {
    lab.Send(absl::Microseconds(400 * i), Lab::Udp(Lab::Ip(), 1000));
  }
  lab.Finish();
  std::vector<Delivery> delivered = lab.To(Direction::kForward);
  double span_s = absl::ToDoubleSeconds(delivered.back().due - delivered.front().due);
  EXPECT_NEAR(static_cast<double>(delivered.size() - 1) * 8000 / span_s, 10e6, 10e3);
  EXPECT_EQ(delivered.size() + lab.Events(What::kDropped, Reason::kQueue).size(), 5000u);
  // A full queue of 50 packets takes 40 ms to send; nobody waits longer.
  absl::Duration longest;
  for (const Delivery& delivery : delivered) {
    longest = std::max(longest, delivery.due - delivery.sent);
  }
  EXPECT_NEAR(absl::ToDoubleMilliseconds(longest), 10 + 40, 0.001);
}

}  // namespace
}  // namespace assay::pathsim
