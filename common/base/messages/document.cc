#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kDocumentEntries[] = {
    {"document.unknown_key",
     "{file}:{line}:{column}: unknown key \"{key}\"; did you mean \"{nearest}\"?",
     "{file}:{line}:{column}：未知的键“{key}”；是否想写“{nearest}”？"},
};

}  // namespace

absl::Span<const CatalogueEntry> Document() { return kDocumentEntries; }

}  // namespace assay::messages
