#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kProbeEntries[] = {
    {"probe.not_resolved",
     "the name {host} does not resolve: {detail}; check the name and this host's DNS",
     "域名 {host} 无法解析：{detail}；请检查域名和本机的 DNS"},
    // Evidence
    {"probe.evidence_contradicts",
     "this {kind} evidence contradicts itself ({detail}), so nothing is derived from it; measure "
     "again with a current agent",
     "此 {kind} 证据自相矛盾（{detail}），不从中推导任何数值；请用当前版本的代理重新测量"},
    {"probe.evidence_unreadable",
     "the evidence cannot be read: {detail}; it was damaged or is not Assay's, measure again",
     "无法读取证据：{detail}；它已损坏或不是 Assay 的证据，请重新测量"},
    {"probe.evidence_too_large",
     "the evidence has {bytes} bytes, more than the 64 MiB that are kept; use a smaller count",
     "证据有 {bytes} 字节，超过可保存的 64 MiB；请减小探测次数"},
    // Route probes
    {"probe.icmp_not_permitted",
     "no CAP_NET_RAW, and the ping group range ({range}) does not include this group ({group}); "
     "run \"setcap cap_net_raw+ep\" on assay-agent, or widen the sysctl "
     "net.ipv4.ping_group_range",
     "没有 CAP_NET_RAW 权限，且 ping 组范围（{range}）不包含当前组（{group}）；请对 assay-agent "
     "执行 "
     "“setcap cap_net_raw+ep”，或扩大 sysctl net.ipv4.ping_group_range"},
    {"probe.icmp_socket_failed",
     "this host gives no ICMP socket for {family}: {detail}; check its kernel and container "
     "settings",
     "本机无法打开 {family} 的 ICMP 套接字：{detail}；请检查内核和容器设置"},
    {"probe.icmp_one_family", "only {family} can be probed here: {detail}",
     "此处只能探测 {family}：{detail}"},
    {"probe.nothing_sent",
     "nothing could be sent to {address}: {detail}; check this host's routes, firewall and limits",
     "无法向 {address} 发送任何数据：{detail}；请检查本机的路由、防火墙和资源限制"},
    {"probe.cancelled",
     "the probe was cancelled before any of its answers was settled; run it again",
     "探测在得出任何结果之前被取消；请重新运行"},
    {"probe.too_little_time",
     "the time limit of {limit} ended before any answer was settled; allow clearly more than the "
     "time-out of {timeout}",
     "时间限制 {limit} 在得出任何结果之前已到；请设置得明显长于超时时间 {timeout}"},
    {"probe.broke", "the probe broke: {detail}", "探测自身出错：{detail}"},
    {"probe.bad_parameter", "{name} is {value}, but must be {allowed}; correct the plan or command",
     "{name} 的值为 {value}，但必须为 {allowed}；请修改计划或命令"},
    {"probe.receive_overflow",
     "this host dropped {count} packets before the agent read them, so loss cannot be told from "
     "its "
     "own delay; free the host or use a longer interval",
     "本机在代理读取之前丢弃了 {count} "
     "个数据包，无法区分网络丢包与本机延误；请减轻主机负载或加大间隔"},
    {"probe.clock_stepped",
     "the real-time clock was set {count} times during the probe; delays around that use the "
     "agent's own monotonic clock",
     "探测期间系统实时时钟被调整了 {count} 次；其前后的时延改用代理自己的单调时钟"},
    {"probe.user_timestamps",
     "the kernel did not time every packet; {count} of {sent} requests were timed by the agent, "
     "which adds its own delay",
     "内核没有为每个数据包计时；{sent} 个请求中有 {count} 个由代理计时，因而包含代理自身的延迟"},
    {"probe.cut_short",
     "the probe ended early: {settled} of {count} requests are settled, the rest is not counted",
     "探测提前结束：{count} 个请求中有 {settled} 个已有结果，其余不计"},
    // HTTP
    {"probe.bad_url",
     "\"{url}\" is no http:// or https:// URL, such as https://gpu.example.com/health; correct it",
     "“{url}”不是 http:// 或 https:// 网址，例如 https://gpu.example.com/health；请更正"},
    {"probe.url_credentials",
     "the URL of {url} holds a user name or password, which would end up in the evidence; leave it "
     "out",
     "{url} 的网址中含有用户名或密码，它会被写入证据；请去掉"},
    {"probe.certificate_store",
     "the certificates to check servers against cannot be read from {path}: {detail}; install "
     "ca-certificates, or set SSL_CERT_FILE",
     "无法从 {path} 读取用于校验服务器的证书：{detail}；请安装 ca-certificates，或设置 "
     "SSL_CERT_FILE"},
    {"probe.certificate_unchecked",
     "the certificate of {url} was not checked (insecure), so anybody on the way could have "
     "answered",
     "未校验 {url} 的证书（insecure），途中任何一方都可能冒充应答"},
    {"probe.through_proxy",
     "requests went through the proxy {proxy}, so connect times are those to the proxy",
     "请求经由代理服务器 {proxy}，因此连接时间是到该代理服务器的时间"},
};

}  // namespace

absl::Span<const CatalogueEntry> Probe() { return kProbeEntries; }

}  // namespace assay::messages
