#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kStoreEntries[] = {
    {"store.newer",
     "{path} was written by a newer version (schema {found}, this binary knows {known}); install "
     "that version or restore a backup",
     "{path} 由更新的版本写入（模式 {found}，本程序只识别到 {known}）；请安装该版本或恢复备份"},
};

}  // namespace

absl::Span<const CatalogueEntry> Store() { return kStoreEntries; }

}  // namespace assay::messages
