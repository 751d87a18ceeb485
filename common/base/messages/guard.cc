#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kGuardEntries[] = {
    // A configuration that is not understood: nothing is allowed until it is.
    {"guard.unreadable",
     "{where} cannot be read ({detail}), so this agent allows nothing; make it readable or remove "
     "it",
     "无法读取 {where}（{detail}），因此此代理不允许任何探测；请使其可读，或将其删除"},
    {"guard.syntax",
     "{where}: this is not YAML ({detail}), so this agent allows nothing until it is corrected",
     "{where}：不是合法的 YAML（{detail}），在更正之前此代理不允许任何探测"},
    {"guard.many_documents",
     "{where}: a second document begins here, so this agent allows nothing until the file holds "
     "one document",
     "{where}：此处开始了第二个文档；在文件只含一个文档之前，此代理不允许任何探测"},
    {"guard.not_a_map",
     "{where}: \"{key}\" must hold keys with values, so this agent allows nothing until it is "
     "corrected",
     "{where}：“{key}”应由键和值组成，在更正之前此代理不允许任何探测"},
    {"guard.not_a_list",
     "{where}: \"{key}\" must be a list, such as [a, b], so this agent allows nothing until it is "
     "corrected",
     "{where}：“{key}”应为列表，例如 [a, b]，在更正之前此代理不允许任何探测"},
    {"guard.not_a_text",
     "{where}: each entry of \"{key}\" must be one text, so this agent allows nothing until it is "
     "corrected",
     "{where}：“{key}”的每一项应为一个文本，在更正之前此代理不允许任何探测"},
    {"guard.unknown_key",
     "{where}: unknown key \"{key}\" (known: {known}), so this agent allows nothing until it is "
     "corrected",
     "{where}：未知的键“{key}”（可用：{known}），在更正之前此代理不允许任何探测"},
    {"guard.duplicate_key",
     "{where}: \"{key}\" stands here a second time, so this agent allows nothing until one of them "
     "is removed",
     "{where}：“{key}”重复出现，在删除其中之一之前此代理不允许任何探测"},
    {"guard.bad_cidr",
     "{where}: \"{value}\" is no address or prefix, such as 203.0.113.0/24 or 2001:db8::/32, so "
     "this agent allows nothing until it is corrected",
     "{where}：“{value}”不是地址或前缀（例如 203.0.113.0/24 或 "
     "2001:db8::/32），在更正之前此代理不允许任何探测"},
    {"guard.host_bits",
     "{where}: \"{value}\" has bits beyond its prefix length, so this agent allows nothing until "
     "it is corrected; write {correct} for the whole prefix",
     "{where}：“{value}”在前缀长度之外还有非零位，在更正之前此代理不允许任何探测；若指整个前缀，"
     "请写 {correct}"},
    {"guard.bad_pattern",
     "{where}: \"{value}\" is no host name, \"*.\" and a host name, address or prefix, so this "
     "agent allows nothing until it is corrected",
     "{where}：“{value}”不是主机名、“*.”加主机名、地址或前缀，在更正之前此代理不允许任何探测"},
    {"guard.unknown_probe",
     "{where}: unknown probe \"{value}\" (known: {known}), so this agent allows nothing until it "
     "is corrected",
     "{where}：未知的探测“{value}”（可用：{known}），在更正之前此代理不允许任何探测"},
    // Refusals by a rule
    {"guard.denied",
     "{host} is denied by \"{rule}\" ({where}); the owner of this agent's host decides that",
     "{host} 被规则“{rule}”（{where}）禁止；此由代理所在主机的所有者决定"},
    {"guard.denied_address",
     "{host} resolves to {address}, which is denied by \"{rule}\" ({where}); the owner of this "
     "agent's host decides that",
     "{host} 解析为 {address}，被规则“{rule}”（{where}）禁止；此由代理所在主机的所有者决定"},
    {"guard.not_allowed",
     "{host} is not covered by targets.allow in {file}; ask the owner of this agent's host to add "
     "it",
     "{file} 的 targets.allow 未包含 {host}；请代理所在主机的所有者添加"},
    {"guard.address_not_allowed",
     "{host} resolves to {address}, which targets.allow in {file} does not cover; ask the owner of "
     "this agent's host to add it",
     "{host} 解析为 {address}，而 {file} 的 targets.allow "
     "未包含该地址；请代理所在主机的所有者添加"},
    {"guard.not_a_server",
     "{host} is not an address of the plan's servers, and this agent probes nothing else; add it "
     "to the server's addresses or to targets.allow of this agent's configuration",
     "{host} "
     "不是计划中服务器的地址，此代理不探测其他目标；请将其加入服务器的地址，或此代理配置中的 "
     "targets.allow"},
    {"guard.not_numeric",
     "{host} gave \"{address}\", which is no numeric address, so it is not probed; check the name",
     "{host} 得到的“{address}”不是数字地址，因此不予探测；请检查该名称"},
    {"guard.unspecified",
     "{host} is {address}, an unspecified address ({block}) that is no target; correct the address",
     "{host} 的地址 {address} 属于未指定地址（{block}），不能作为目标；请更正地址"},
    {"guard.link_local",
     "{host} is {address}, a link-local address ({block}) that is no target; correct the address, "
     "or have targets.allow name it",
     "{host} 的地址 {address} 属于链路本地地址（{block}），不能作为目标；请更正地址，或在 "
     "targets.allow 中写明"},
    {"guard.multicast",
     "{host} is {address}, a multicast address ({block}) that is no target; correct the address",
     "{host} 的地址 {address} 属于组播地址（{block}），不能作为目标；请更正地址"},
    {"guard.broadcast",
     "{host} is {address}, the broadcast address, which is no target; correct the address",
     "{host} 的地址 {address} 是广播地址，不能作为目标；请更正地址"},
    {"guard.probe_not_allowed",
     "the probe \"{probe}\" is not in the list of allowed probes ({where}); ask the owner of this "
     "agent's host to add it",
     "探测“{probe}”不在允许的探测列表（{where}）中；请代理所在主机的所有者添加"},
};

}  // namespace

absl::Span<const CatalogueEntry> Guard() { return kGuardEntries; }

}  // namespace assay::messages
