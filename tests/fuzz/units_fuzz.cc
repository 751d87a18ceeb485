// Any text as a duration and as a quantity of each unit; what is accepted is written and read back
// as the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/document/units.h"
#include "core/window/civil.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::document;  // NOLINT(google-build-using-namespace)
  absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto duration = ParseDuration(text); duration.ok()) {
    auto back = ParseDuration(WriteDuration(*duration));
    if (!back.ok() || *back != *duration) std::abort();
  }
  for (int unit = assay::v1::Unit_MIN; unit <= assay::v1::Unit_MAX; ++unit) {
    auto value = ParseQuantity(text, static_cast<assay::v1::Unit>(unit));
    if (!value.ok()) continue;
    if (!std::isfinite(*value) || *value < 0) std::abort();
    if (FormatQuantity(*value, static_cast<assay::v1::Unit>(unit)).empty()) std::abort();
    if (WriteQuantity(*value, static_cast<assay::v1::Unit>(unit)).empty()) std::abort();
  }
  assay::window::ParseTimeOfDay(text).IgnoreError();
  assay::window::ParseDate(text).IgnoreError();
  return 0;
}
