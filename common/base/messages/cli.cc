#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kCliEntries[] = {
    {"cli.unknown_language", "unknown language \"{value}\"; write --lang zh or --lang en",
     "未知语言“{value}”；请写 --lang zh 或 --lang en"},
};

}  // namespace

absl::Span<const CatalogueEntry> Cli() { return kCliEntries; }

}  // namespace assay::messages
