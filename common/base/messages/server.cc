#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kServerEntries[] = {
    {"server.unknown_run", "no run {run}; `assay run list` shows the ones there are",
     "没有运行 {run}；可用 assay run list 查看现有运行"},
};

}  // namespace

absl::Span<const CatalogueEntry> Server() { return kServerEntries; }

}  // namespace assay::messages
