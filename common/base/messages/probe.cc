#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kProbeEntries[] = {
    {"probe.not_resolved",
     "the name {host} does not resolve: {detail}; check the name and this host's DNS",
     "域名 {host} 无法解析：{detail}；请检查域名和本机的 DNS"},
};

}  // namespace

absl::Span<const CatalogueEntry> Probe() { return kProbeEntries; }

}  // namespace assay::messages
