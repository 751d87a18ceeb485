#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kAgentEntries[] = {
    {"agent.no_capability", "this agent cannot run the probe \"{probe}\": {reason}",
     "此代理无法执行探测“{probe}”：{reason}"},
};

}  // namespace

absl::Span<const CatalogueEntry> Agent() { return kAgentEntries; }

}  // namespace assay::messages
