#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kVerdictEntries[] = {
    {"verdict.no_samples", "no samples", "没有样本"},
};

}  // namespace

absl::Span<const CatalogueEntry> Verdict() { return kVerdictEntries; }

}  // namespace assay::messages
