// Any text as a scenario; what is accepted makes a path that moves a packet.
#include <cstddef>
#include <cstdint>

#include "tests/pathsim/packet/build.h"
#include "tests/pathsim/path/path.h"
#include "tests/pathsim/scenario/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::pathsim;  // NOLINT(google-build-using-namespace)
  absl::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<Scenario> scenario = ReadScenario(text, "fuzz");
  if (!scenario.ok()) return 0;
  Address near = *ParseAddress("192.0.2.1"), far = *ParseAddress("198.51.100.1");
  Path path(*std::move(scenario));
  Outcome outcome;
  path.Inject(absl::ZeroDuration(), Direction::kForward,
              BuildUdp({.source = near, .destination = far, .ttl = 8}, 1, 2, Bytes(1400)), outcome);
  // Not to its end: some scenarios make copies of copies.
  for (int steps = 0; steps < 50 && path.Next() && outcome.events.size() < 1000; ++steps) {
    path.AdvanceTo(path.Next()->time, outcome);
  }
  return 0;
}
