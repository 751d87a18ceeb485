#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kSystemEntries[] = {
    {"system.open_failed", "cannot open {path}: {detail}", "无法打开 {path}：{detail}"},
    {"system.read_failed", "cannot read {path}: {detail}", "无法读取 {path}：{detail}"},
    {"system.write_failed", "cannot write {path}: {detail}", "无法写入 {path}：{detail}"},
    {"system.file_too_large", "{path} is larger than {limit_bytes} bytes",
     "{path} 超过 {limit_bytes} 字节"},
    {"system.start_failed", "cannot start {program}: {detail}", "无法启动 {program}：{detail}"},
    {"system.not_resolved",
     "the name in {peer} does not resolve: {detail}; check the name and this host's DNS",
     "{peer} 中的域名无法解析：{detail}；请检查域名和本机的 DNS"},
    {"system.resolve_timed_out",
     "this host's DNS gave no answer in time for {peer}; check its name servers",
     "本机的 DNS 未及时应答 {peer}；请检查域名服务器"},
    {"system.connect_refused",
     "{peer} refused the connection; check the address and port, and that the service is running",
     "{peer} 拒绝了连接；请检查地址和端口，并确认服务正在运行"},
    {"system.connect_timed_out",
     "{peer} did not answer in time; check the address and port, and firewalls on the way",
     "{peer} 未及时应答；请检查地址和端口，以及途中的防火墙"},
    {"system.unreachable",
     "{peer} cannot be reached from this host: {detail}; check its network and routes",
     "本机无法到达 {peer}：{detail}；请检查本机的网络和路由"},
    {"system.connect_failed", "no connection to {peer}: {detail}", "无法连接 {peer}：{detail}"},
    {"system.directory_in_use",
     "another process is using {path}; stop it first, or give another directory",
     "另一个进程正在使用 {path}；请先停止它，或换一个目录"},
};

}  // namespace

absl::Span<const CatalogueEntry> System() { return kSystemEntries; }

}  // namespace assay::messages
