// Evidence from agents, compressed as it is stored and plain: what is accepted gives figures that
// make sense, and comes back the same from storage.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/evidence/derive.h"
#include "nlohmann/json.hpp"

namespace {

void CheckEvidence(const assay::v1::Evidence& evidence) {
  auto metrics = assay::evidence::DeriveMetrics(evidence);
  auto summary = assay::evidence::Summarise(evidence);
  if (metrics.ok() != summary.ok()) std::abort();
  if (!metrics.ok()) return;
  for (const assay::v1::Metric& metric : *metrics) {
    if (metric.proportion().events() > metric.proportion().trials()) std::abort();
    for (double value : metric.samples().values()) {
      if (!std::isfinite(value) || value < 0) std::abort();
    }
  }
  if (summary->dump().empty()) std::abort();
  auto packed = assay::evidence::Pack(evidence);
  if (!packed.ok()) std::abort();
  auto unpacked = assay::evidence::Unpack(*packed);
  if (!unpacked.ok() || *assay::evidence::Pack(*unpacked) != *packed) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto stored = assay::evidence::Unpack({reinterpret_cast<const char*>(data), size});
  if (stored.ok()) CheckEvidence(*stored);
  assay::v1::Evidence plain;
  if (plain.ParseFromArray(data, static_cast<int>(size))) CheckEvidence(plain);
  return 0;
}
