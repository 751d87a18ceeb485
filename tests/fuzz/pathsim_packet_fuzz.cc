// Any bytes as a packet: read within bounds, sent down a path that cuts, quotes, copies and
// fragments; what comes out is well-formed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/pathsim/path/path.h"
#include "tests/pathsim/scenario/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::pathsim;  // NOLINT(google-build-using-namespace)
  static const Scenario* scenario = new Scenario(*ReadScenario(R"(
near: {addresses: [192.0.2.1, '2001:db8::1']}
far: {addresses: [198.51.100.1, '2001:db8:f::1'], forward: {duplicate: {every: 2}}}
hops:
  - {v4: 203.0.113.1, v6: '2001:db8:1::1', icmp: {mpls: [{label: 7}], quote_transport_bytes: 8}}
  - {v4: 203.0.113.2, v6: '2001:db8:2::1', icmp: {quote: wrong_ports}}
  - {v4: 203.0.113.3, v6: '2001:db8:3::1', forward: {mtu: 96}, icmp: {quote: garbage}}
  - equal_cost: [[{v4: 203.0.113.4, icmp: {quote: wrong_destination}}], [{v6: '2001:db8:4::1'}]]
)",
                                                               "fuzz"));
  Path path(*scenario);
  Outcome outcome;
  Bytes packet(data, data + size);
  for (Direction direction : {Direction::kForward, Direction::kReverse}) {
    path.Inject(absl::ZeroDuration(), direction, packet, outcome);
    path.AdvanceTo(absl::Seconds(1), outcome);
  }
  if (path.InFlight() != 0) std::abort();
  for (const Delivery& delivery : outcome.deliveries) {
    if (!ParseHeader(delivery.bytes).ok()) std::abort();
  }
  return 0;
}
