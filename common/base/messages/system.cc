#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kSystemEntries[] = {
    {"system.open_failed", "cannot open {path}: {detail}", "无法打开 {path}：{detail}"},
    {"system.read_failed", "cannot read {path}: {detail}", "无法读取 {path}：{detail}"},
    {"system.write_failed", "cannot write {path}: {detail}", "无法写入 {path}：{detail}"},
    {"system.file_too_large", "{path} is larger than {limit_bytes} bytes",
     "{path} 超过 {limit_bytes} 字节"},
    {"system.directory_in_use",
     "another process is using {path}; stop it first, or give another directory",
     "另一个进程正在使用 {path}；请先停止它，或换一个目录"},
};

}  // namespace

absl::Span<const CatalogueEntry> System() { return kSystemEntries; }

}  // namespace assay::messages
