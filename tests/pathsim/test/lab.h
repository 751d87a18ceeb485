// A path in simulated time, for tests: a scenario, packets in, outcome out.
#ifndef ASSAY_TESTS_PATHSIM_TEST_LAB_H_
#define ASSAY_TESTS_PATHSIM_TEST_LAB_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/pathsim/packet/build.h"
#include "tests/pathsim/path/path.h"
#include "tests/pathsim/scenario/reader.h"

namespace assay::pathsim {

inline Address At(const std::string& text) { return *ParseAddress(text); }

class Lab {
 public:
  // `hops` and what else the scenario has behind its hosts, 192.0.2.1 / 2001:db8::1 and
  // 198.51.100.1 / 2001:db8:f::1.
  explicit Lab(const std::string& rest, const std::string& far_links = "") {
    absl::StatusOr<Scenario> scenario =
        ReadScenario(absl::StrCat("near: {addresses: [192.0.2.1, '2001:db8::1']}\n"
                                  "far:\n  addresses: [198.51.100.1, '2001:db8:f::1']\n",
                                  far_links, rest),
                     "test.yaml");
    EXPECT_TRUE(scenario.ok()) << scenario.status();
    if (!scenario.ok()) scenario.emplace();
    path = std::make_unique<Path>(*std::move(scenario));
  }

  static IpFields Ip(int version = 4, uint8_t ttl = 64) {
    IpFields ip{.source = At(version == 4 ? "192.0.2.1" : "2001:db8::1"),
                .destination = At(version == 4 ? "198.51.100.1" : "2001:db8:f::1"),
                .ttl = ttl};
    ip.dont_fragment = true;
    return ip;
  }
  static IpFields BackIp(int version = 4, uint8_t ttl = 64) {
    IpFields ip = Ip(version, ttl);
    std::swap(ip.source, ip.destination);
    return ip;
  }
  // A UDP packet of `bytes` bytes in all.
  static Bytes Udp(const IpFields& ip, size_t bytes = 60, uint16_t source_port = 40000) {
    size_t headers = (ip.source.version == 4 ? 20 : 40) + 8;
    return BuildUdp(ip, source_port, 33434, Bytes(bytes - headers, 'x'));
  }

  void Send(absl::Duration time, Bytes packet, Direction direction = Direction::kForward) {
    path->AdvanceTo(time, outcome);
    path->Inject(time, direction, std::move(packet), outcome);
  }
  void Finish() { path->AdvanceTo(absl::Hours(1), outcome); }

  // The deliveries to one host.
  std::vector<Delivery> To(Direction direction) const {
    std::vector<Delivery> found;
    for (const Delivery& delivery : outcome.deliveries) {
      if (delivery.to == direction) found.push_back(delivery);
    }
    return found;
  }
  std::vector<Event> Events(What what, Reason reason = Reason::kNone) const {
    std::vector<Event> found;
    for (const Event& event : outcome.events) {
      if (event.what == what && event.reason == reason) found.push_back(event);
    }
    return found;
  }
  // Who sent what came to the near host, in order.
  std::vector<std::string> Answerers() const {
    std::vector<std::string> found;
    for (const Delivery& delivery : To(Direction::kReverse)) {
      found.push_back(AddressText(ParseHeader(delivery.bytes)->source));
    }
    return found;
  }

  std::unique_ptr<Path> path;
  Outcome outcome;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_TEST_LAB_H_
