// Routers and routes: who answers, which way packets go.
#include "tests/pathsim/path/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/pathsim/path/record.h"
#include "tests/pathsim/test/lab.h"

namespace assay::pathsim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kThreeHops[] =
    "hops: [{v4: 203.0.113.1, v6: '2001:db8:1::1'}, {v4: 202.97.0.2, v6: '2001:db8:2::1'},"
    "{v4: 59.43.0.3, v6: '2001:db8:3::1'}]";

TEST(PathTest, TimeExceededComesFromTheHopWhereTheTtlEnds) {
  for (int version : {4, 6}) {
    Lab lab(kThreeHops);
    for (uint8_t ttl = 1; ttl <= 4; ++ttl) {
      lab.Send(absl::Milliseconds(ttl), Lab::Udp(Lab::Ip(version, ttl)));
    }
    lab.Finish();
    if (version == 4) {
      EXPECT_THAT(lab.Answerers(), ElementsAre("203.0.113.1", "202.97.0.2", "59.43.0.3"));
    } else {
      EXPECT_THAT(lab.Answerers(), ElementsAre("2001:db8:1::1", "2001:db8:2::1", "2001:db8:3::1"));
    }
    ASSERT_EQ(lab.To(Direction::kForward).size(), 1u);
    Bytes arrived = lab.To(Direction::kForward)[0].bytes;
    EXPECT_EQ(arrived, Lab::Udp(Lab::Ip(version, 1))) << "three routers took one off the TTL each";
    // The quote is the packet as the router got it.
    Bytes error = lab.To(Direction::kReverse)[2].bytes;
    Bytes quoted(error.begin() + (version == 4 ? 28 : 48), error.end());
    EXPECT_EQ(quoted, Lab::Udp(Lab::Ip(version, 1)));
    EXPECT_EQ(ParseHeader(error)->ttl, 253) << "255, two routers on the way back";
  }
}

TEST(PathTest, TheFarHostSeesTheSameRoutersFromItsSide) {
  Lab lab(kThreeHops);
  for (uint8_t ttl = 1; ttl <= 3; ++ttl) {
    lab.Send(absl::Milliseconds(ttl), Lab::Udp(Lab::BackIp(4, ttl)), Direction::kReverse);
  }
  lab.Finish();
  std::vector<std::string> answerers;
  for (const Delivery& delivery : lab.To(Direction::kForward)) {
    answerers.push_back(AddressText(ParseHeader(delivery.bytes)->source));
  }
  EXPECT_THAT(answerers, ElementsAre("59.43.0.3", "202.97.0.2", "203.0.113.1"));
}

TEST(PathTest, NothingAnswersErrorsLaterFragmentsOrManyHosts) {
  Lab lab(kThreeHops);
  Bytes probe = Lab::Udp(Lab::BackIp());
  Bytes error4 = BuildIcmpError(IcmpError::kPortUnreachable, 0, At("192.0.2.1"), 1, {},
                                *ParseHeader(probe), probe, 0);
  Bytes probe6 = Lab::Udp(Lab::BackIp(6));
  Bytes error6 = BuildIcmpError(IcmpError::kPortUnreachable, 0, At("2001:db8::1"), 1, {},
                                *ParseHeader(probe6), probe6, 0);
  IpFields whole = Lab::Ip(4, 1);
  whole.dont_fragment = false;
  Bytes later = FragmentV4(Lab::Udp(whole, 1000), 500).back();
  IpFields nobody = Lab::Ip(4, 1);
  nobody.source = At("0.0.0.0");
  for (const Bytes& packet : {error4, error6, later, Lab::Udp(nobody)}) {
    lab.Send(absl::ZeroDuration(), packet);
  }
  lab.Finish();
  EXPECT_EQ(lab.Events(What::kDropped, Reason::kTtl).size(), 4u);
  EXPECT_EQ(lab.Events(What::kUnanswered, Reason::kNotAnswerable).size(), 4u);
  EXPECT_TRUE(lab.outcome.deliveries.empty());
}

TEST(PathTest, RateLimitLetsTheBurstAndThenTheRateThrough) {
  Lab lab("hops: [{v4: 203.0.113.1, icmp: {rate: 10, burst: 3}}]");
  for (int i = 0; i <= 1000; ++i) {
    lab.Send(absl::Milliseconds(i), Lab::Udp(Lab::Ip(4, 1)));
  }
  lab.Finish();
  EXPECT_EQ(lab.Answerers().size(), 3u + 10u);
  EXPECT_EQ(lab.Events(What::kUnanswered, Reason::kRateLimit).size(), 1001u - 13u);
}

TEST(PathTest, SilentAndHiddenHops) {
  Lab lab(
      "hops: [{v4: 203.0.113.1, icmp: {silent: true}}, {v4: 203.0.113.2, hidden: true},"
      "{v4: 203.0.113.3}]");
  for (uint8_t ttl = 1; ttl <= 3; ++ttl) {
    lab.Send(absl::Milliseconds(ttl), Lab::Udp(Lab::Ip(4, ttl)));
  }
  lab.Finish();
  EXPECT_THAT(lab.Answerers(), ElementsAre("203.0.113.3"));
  EXPECT_EQ(lab.To(Direction::kForward).size(), 1u) << "the hidden hop costs no TTL";
}

TEST(PathTest, RoutersAnswerForThemselves) {
  Lab lab(kThreeHops);
  IpFields ip = Lab::Ip();
  ip.destination = At("202.97.0.2");
  lab.Send(absl::ZeroDuration(), BuildEchoRequest(ip, 1, 2, Bytes(10, 'p')));
  lab.Send(absl::Milliseconds(1), Lab::Udp(ip));
  lab.Finish();
  ASSERT_THAT(lab.Answerers(), ElementsAre("202.97.0.2", "202.97.0.2"));
  Bytes reply = lab.To(Direction::kReverse)[0].bytes;
  EXPECT_EQ(reply[20], 0);
  EXPECT_EQ(Bytes(reply.end() - 10, reply.end()), Bytes(10, 'p'));
  EXPECT_EQ(Get16(lab.To(Direction::kReverse)[1].bytes, 20), 0x0303) << "port unreachable";
}

constexpr char kEqualCost[] =
    "hops:\n- {v4: 203.0.113.1}\n"
    "- equal_cost: [[{v4: 203.0.113.10}, {v4: 203.0.113.11}], [{v4: 203.0.113.20}]]\n  by: ";

TEST(EqualCostTest, AFlowKeepsItsBranchAndFlowsSpread) {
  Lab lab(absl::StrCat(kEqualCost, "flow"));
  std::map<uint16_t, std::set<std::string>> seen;
  for (uint16_t port = 40000; port < 40100; ++port) {
    for (int round = 0; round < 3; ++round) {
      lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, 2), 60, port));
    }
  }
  lab.Finish();
  for (const Delivery& delivery : lab.To(Direction::kReverse)) {
    seen[Get16(delivery.bytes, 48)].insert(AddressText(ParseHeader(delivery.bytes)->source));
  }
  ASSERT_EQ(seen.size(), 100u);
  int first = 0;
  for (const auto& [port, answerers] : seen) {
    EXPECT_EQ(answerers.size(), 1u) << port;
    first += answerers.contains("203.0.113.10");
  }
  EXPECT_GT(first, 25);
  EXPECT_LT(first, 75);
}

TEST(EqualCostTest, ByPacketsTurnsAndByAddressesDoesNotSpreadPorts) {
  Lab turns(absl::StrCat(kEqualCost, "packet")), addresses(absl::StrCat(kEqualCost, "addresses"));
  std::set<std::string> answerers;
  for (uint16_t port = 1; port <= 20; ++port) {
    turns.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, 2)));
    addresses.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, 2), 60, port));
  }
  turns.Finish();
  addresses.Finish();
  std::vector<std::string> by_turns = turns.Answerers(), same = addresses.Answerers();
  EXPECT_EQ(std::count(by_turns.begin(), by_turns.end(), "203.0.113.10"), 10);
  EXPECT_EQ(std::set<std::string>(same.begin(), same.end()).size(), 1u);
}

TEST(ReturnTest, PacketsFromTheFarHostTakeTheReturnHops) {
  Lab lab(
      "hops: [{v4: 203.0.113.1, forward: {delay: 1ms}, reverse: {delay: 1ms}},"
      "{v4: 203.0.113.2, forward: {delay: 1ms}, reverse: {delay: 1ms}, return_via: r1}]\n"
      "return_hops: [{name: r1, v4: 202.97.0.1, reverse: {delay: 10ms}},"
      "{name: r2, v4: 202.97.0.2, reverse: {delay: 100ms}}]");
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip()));
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, 1)));
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, 2)));
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::BackIp()), Direction::kReverse);
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::BackIp(4, 1)), Direction::kReverse);
  lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::BackIp(4, 2)), Direction::kReverse);
  lab.Finish();
  std::map<std::string, absl::Duration> near;
  for (const Delivery& delivery : lab.To(Direction::kReverse)) {
    near[AddressText(ParseHeader(delivery.bytes)->source)] = delivery.due;
  }
  EXPECT_EQ(near["203.0.113.1"], absl::Milliseconds(2)) << "back as it came";
  EXPECT_EQ(near["203.0.113.2"], absl::Milliseconds(2 + 110)) << "by way of r1";
  EXPECT_EQ(near["198.51.100.1"], absl::Milliseconds(110));
  std::vector<std::string> far;
  for (const Delivery& delivery : lab.To(Direction::kForward)) {
    far.push_back(AddressText(ParseHeader(delivery.bytes)->source));
  }
  // r2's answer goes back over its own link to r1 and over the far one, which have no delay
  // forward.
  EXPECT_THAT(far, ElementsAre("202.97.0.1", "192.0.2.1", "202.97.0.2"));
}

TEST(ChangeTest, TheRouteChangesAtItsTimeAndAtItsPacket) {
  for (const char* when : {"at: 1s", "after_packets: 10"}) {
    Lab lab(absl::StrCat("hops: [{name: a, v4: 203.0.113.1}]\nchanges: [{", when,
                         ", hops: [{name: b, v4: 203.0.113.2}]}, {at: 2s, hops: [a]}]"));
    for (int i = 0; i < 30; ++i) {
      lab.Send(absl::Seconds(5) + absl::Milliseconds(100 * i), Lab::Udp(Lab::Ip(4, 1)));
    }
    lab.Finish();
    std::vector<std::string> expected(30, "203.0.113.1");
    std::fill_n(expected.begin() + 10, 10, "203.0.113.2");
    EXPECT_EQ(lab.Answerers(), expected) << when;
    EXPECT_EQ(lab.Events(What::kChanged).size(), 2u);
  }
}

TEST(MtuTest, TooBigIsAnsweredFragmentedOrSwallowed) {
  std::string hops =
      "hops: [{v4: 203.0.113.1, v6: '2001:db8:1::1'}, {v4: 203.0.113.2, forward: {mtu: 1400";
  Lab lab(hops + "}}]"), hole(hops + ", too_big: silent}}]");
  IpFields divisible = Lab::Ip();
  divisible.dont_fragment = false;
  for (Lab* each : {&lab, &hole}) {
    each->Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4), 1400));
    each->Send(absl::Milliseconds(1), Lab::Udp(Lab::Ip(4), 1401));
    each->Send(absl::Milliseconds(2), Lab::Udp(Lab::Ip(6), 1500));
    each->Send(absl::Milliseconds(3), Lab::Udp(divisible, 1500));
    each->Finish();
    EXPECT_EQ(each->To(Direction::kForward).size(), 1u + 2u) << "one whole, one in two pieces";
    EXPECT_EQ(each->Events(What::kDropped, Reason::kMtu).size(), 2u);
  }
  EXPECT_TRUE(hole.To(Direction::kReverse).empty());
  ASSERT_THAT(lab.Answerers(), ElementsAre("203.0.113.1", "2001:db8:1::1"));
  Bytes needed = lab.To(Direction::kReverse)[0].bytes, big = lab.To(Direction::kReverse)[1].bytes;
  EXPECT_EQ(Get16(needed, 20), 0x0304);
  EXPECT_EQ(Get16(needed, 26), 1400);
  EXPECT_EQ(big[40], 2);
  EXPECT_EQ(Get32(big, 44), 1400u);
}

TEST(RecordTest, SaysWhatHappenedToEveryPacket) {
  Lab lab("hops: [{name: a, v4: 203.0.113.1, forward: {delay: 1ms, loss: {packets: 2}}}]");
  for (uint8_t ttl : {64, 64, 1}) lab.Send(absl::ZeroDuration(), Lab::Udp(Lab::Ip(4, ttl)));
  lab.Finish();
  Record record(lab.path->scenario());
  std::string text;
  for (const Event& event : lab.outcome.events) record.Add(event, text);
  for (const Delivery& delivery : lab.outcome.deliveries) {
    record.Deliver(delivery, delivery.due + absl::Microseconds(3), text);
  }
  EXPECT_THAT(text, HasSubstr(R"({"what":"dropped","time_ns":0,"packet":2,"direction":"forward",)"
                              R"("place":"a","reason":"loss"})"));
  EXPECT_THAT(text, HasSubstr(R"("due_ns":1000000,"late_ns":3000,"delay_ns":1003000})"));
  EXPECT_THAT(text, HasSubstr(R"("packet":3,"direction":"forward","place":"a",)"
                              R"("reason":"time_exceeded","answer":4)"));
  EXPECT_EQ(record.Count(Direction::kForward, What::kSent), 3u);
  EXPECT_EQ(record.Count(Direction::kForward, What::kDelivered), 1u);
  EXPECT_THAT(record.Totals(0), HasSubstr("\"late_us_below\":{\"p50\":4,"));
}

}  // namespace
}  // namespace assay::pathsim
