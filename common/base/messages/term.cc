#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kTermEntries[] = {
    {"term.unknown_language", "unknown language \"{value}\"; write --lang zh or --lang en",
     "未知语言“{value}”；请写 --lang zh 或 --lang en"},
    {"term.unknown_output",
     "unknown output format \"{value}\"; write --output table, --output json or --output csv",
     "未知输出格式“{value}”；请写 --output table、--output json 或 --output csv"},
};

}  // namespace

absl::Span<const CatalogueEntry> Term() { return kTermEntries; }

}  // namespace assay::messages
