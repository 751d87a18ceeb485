#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kIdentityEntries[] = {
    {"identity.openssl", "a cryptographic operation failed: {detail}", "密码运算失败：{detail}"},
    {"identity.no_key",
     "{where}: no readable private key; it must be a PEM block without a pass phrase",
     "{where}：没有可读取的私钥；私钥须为不带口令的 PEM 块"},
    {"identity.no_certificate", "{where}: no certificate in it", "{where}：其中没有证书"},
    {"identity.bad_certificate", "{where}: a certificate in it cannot be read: {detail}",
     "{where}：其中有无法读取的证书：{detail}"},
    {"identity.key_mismatch",
     "{where}: the private key does not belong to the certificate; join again to get a new pair",
     "{where}：私钥与证书不匹配；请重新加入以获取新的密钥和证书"},
    {"identity.chain_without_ca",
     "{where}: the certificate chain does not end in the coordinator's CA; join again to get a "
     "whole one",
     "{where}：证书链的末尾不是协调器的 CA；请重新加入以获取完整的证书链"},
    {"identity.chain_broken",
     "{where}: the certificate was not issued by the CA beside it: {detail}; join again to get a "
     "new one",
     "{where}：证书不是由同一文件中的 CA 签发：{detail}；请重新加入以获取新证书"},
    {"identity.bad_address",
     "\"{address}\" is not an address; write host, host:port or [IPv6]:port, with a port of 1 to "
     "65535",
     "“{address}”不是有效地址；请写 主机、主机:端口 或 [IPv6]:端口，端口为 1 到 65535"},
    {"identity.bad_fingerprint",
     "\"{fingerprint}\" is not a CA fingerprint; it is \"sha256:\" and 64 hexadecimal digits, as "
     "the join command shows it",
     "“{fingerprint}”不是 CA 指纹；指纹是 sha256: 加 64 位十六进制数字，见加入命令"},
    {"identity.bad_proxy",
     "the value of {variable} is not an HTTP proxy; write http://[user:password@]host:port, or "
     "make it empty",
     "环境变量 {variable} 的值不是 HTTP 代理；请写 http://[用户:密码@]主机:端口，或将其置空"},
    {"identity.proxy_refused",
     "the proxy {proxy} refused a connection to {peer}: {detail}; ask its owner to allow CONNECT "
     "to that address and port, or list the host in no_proxy",
     "HTTP 代理 {proxy} 拒绝连接 {peer}：{detail}；请让其管理者放行到该地址和端口的 CONNECT，"
     "或把该主机写入 no_proxy"},
    {"identity.proxy_wants_password",
     "the proxy {proxy} wants a user and password for {peer} ({detail}); write them into the "
     "variable as http://user:password@host:port",
     "HTTP 代理 {proxy} 对 {peer} 要求用户名和密码（{detail}）；"
     "请在该变量中写成 http://用户:密码@主机:端口"},
    {"identity.proxy_not_http",
     "{proxy} does not answer like an HTTP proxy, so {peer} cannot be reached; check the variable",
     "{proxy} 的应答不像 HTTP 代理，因此无法连接 {peer}；请检查该变量"},
    {"identity.proxy_closed",
     "the proxy {proxy} ended the connection to {peer} without an answer: {detail}; ask its owner, "
     "or list the host in no_proxy",
     "HTTP 代理 {proxy} 未应答就断开了到 {peer} 的连接：{detail}；请询问其管理者，"
     "或把该主机写入 no_proxy"},
    {"identity.tls_timed_out",
     "{peer} accepts connections but does not answer the TLS handshake in time; check that the "
     "port is the coordinator's, and for a firewall or tunnel that drops large packets",
     "{peer} 接受连接，但未及时应答 TLS 握手；请确认端口属于协调器，"
     "并检查防火墙或隧道是否丢弃大包"},
    {"identity.tls_closed",
     "{peer} accepts connections but ends them during the TLS handshake ({detail}); check that "
     "the port is the coordinator's, and for a firewall that cuts TLS",
     "{peer} 接受连接，但在 TLS 握手时断开（{detail}）；请确认端口属于协调器，"
     "并检查防火墙是否切断 TLS"},
    {"identity.not_tls", "what listens on {peer} does not speak TLS; check the port",
     "{peer} 上监听的服务不使用 TLS；请检查端口"},
    {"identity.not_grpc",
     "what listens on {peer} speaks TLS but is not a coordinator (no HTTP/2); check the port",
     "{peer} 上监听的服务使用 TLS，但不是协调器（不支持 HTTP/2）；请检查端口"},
    {"identity.tls_failed", "the TLS handshake with {peer} failed: {detail}",
     "与 {peer} 的 TLS 握手失败：{detail}"},
    {"identity.other_coordinator",
     "{peer} is another coordinator, or somebody between: its CA is {found}, expected {expected}; "
     "check the address, and join again if the coordinator was set up anew",
     "{peer} 是另一个协调器，或中间有人冒充：其 CA 为 {found}，应为 {expected}；"
     "请检查地址，若协调器已重新安装，请重新加入"},
    {"identity.other_fingerprint",
     "{peer} is not the coordinator of this join command: its CA is {found}, expected {expected}; "
     "check the address, and that the command is whole and recent",
     "{peer} 不是此加入命令所指的协调器：其 CA 为 {found}，应为 {expected}；"
     "请检查地址，并确认命令完整且未过时"},
    {"identity.impostor",
     "{peer} shows the right CA but a certificate that this CA did not issue: somebody stands "
     "between; nothing was sent to it, so check the network before trying again",
     "{peer} 出示了正确的 CA，但其证书并非由该 CA 签发：中间有人冒充；"
     "尚未向其发送任何内容，请先检查网络再重试"},
    {"identity.peer_expired",
     "the certificate of {peer} expired on {limit}, and this host's clock says {now}; set the "
     "clock if it is fast, else restart the coordinator so that it renews its certificate",
     "{peer} 的证书已于 {limit} 过期，而本机时钟为 {now}；"
     "若本机时钟偏快请校准，否则请重启协调器以更新证书"},
    {"identity.peer_not_yet_valid",
     "the certificate of {peer} is valid from {limit} only, and this host's clock says {now}: the "
     "clock is probably slow; set it",
     "{peer} 的证书从 {limit} 起才有效，而本机时钟为 {now}：本机时钟可能偏慢，请校准"},
    {"identity.name_mismatch",
     "the certificate of {peer} is for {names}, not for {host}; dial one of those names, or add "
     "this one to the names of the coordinator",
     "{peer} 的证书适用于 {names}，而不适用于 {host}；请改用其中的名称，"
     "或将此名称加入协调器的名称列表"},
    {"identity.peer_refused", "the certificate of {peer} is not that of a coordinator: {detail}",
     "{peer} 的证书不是协调器的证书：{detail}"},
    {"identity.own_expired",
     "this host's own certificate expired on {limit}, and its clock says {now}; set the clock if "
     "it is fast, else join again",
     "本机自己的证书已于 {limit} 过期，而本机时钟为 {now}；若时钟偏快请校准，否则请重新加入"},
    {"identity.own_not_yet_valid",
     "this host's own certificate is valid from {limit} only, and its clock says {now}: the clock "
     "is probably slow; set it",
     "本机自己的证书从 {limit} 起才有效，而本机时钟为 {now}：本机时钟可能偏慢，请校准"},
    {"identity.own_refused",
     "{peer} refused this host's certificate ({detail}); join again, or set the coordinator's "
     "clock if it is wrong",
     "{peer} 拒绝了本机的证书（{detail}）；请重新加入，若协调器的时钟有误请校准"},
    {"identity.bad_peer_uri", "the certificate does not say who it is for: \"{uri}\"",
     "证书未说明其所属者：“{uri}”"},
    {"identity.unreadable_peer", "the caller's certificate cannot be read", "无法读取调用方的证书"},
    {"identity.not_over_tls", "this call needs TLS, and the connection has none",
     "此调用需要 TLS，而连接未使用 TLS"},
    {"identity.bad_coordinator_name",
     "\"{name}\" cannot be a coordinator's name; use 1 to 50 letters, digits, dots, hyphens and "
     "underscores",
     "“{name}”不能作为协调器的名称；请使用 1 到 50 个字母、数字、点、连字符或下划线"},
    {"identity.bad_serving_name",
     "\"{name}\" cannot be a name of the coordinator; write a host name or an IP address, "
     "without a port",
     "“{name}”不能作为协调器的名称；请写主机名或 IP 地址，不带端口"},
    {"identity.no_serving_name",
     "the coordinator's certificate needs at least one host name or address to be dialled by",
     "协调器的证书至少需要一个供连接使用的主机名或地址"},
    {"identity.ca_exists",
     "{path} holds a certificate authority already; every agent trusts it, so it is not replaced",
     "{path} 中已有证书颁发机构；所有代理都信任它，因此不会替换"},
    {"identity.bad_ca", "{path} is not a usable certificate authority: {detail}",
     "{path} 不是可用的证书颁发机构：{detail}"},
    {"identity.ca_expired",
     "the coordinator's CA is not valid at {now} (it is from {from} to {to}); set the clock, or "
     "set up the coordinator anew",
     "协调器的 CA 在 {now} 无效（有效期为 {from} 至 {to}）；请校准时钟，或重新安装协调器"},
    {"identity.bad_csr", "the certificate request cannot be used: {detail}",
     "证书请求无法使用：{detail}"},
    {"identity.csr_signature",
     "the certificate request is not signed by its own key; make a new one",
     "证书请求不是由其自身的密钥签名；请重新生成"},
    {"identity.weak_key",
     "the certificate request has a key of a kind that is not accepted ({detail}); use P-256, "
     "P-384, P-521, or RSA with 2048 to 8192 bits",
     "证书请求的密钥类型不被接受（{detail}）；请使用 P-256、P-384、P-521，或 2048 至 8192 位的 "
     "RSA"},
    {"identity.bad_subject", "a certificate cannot be issued for this subject: {detail}",
     "无法为此主体签发证书：{detail}"},
    {"identity.role_too_low",
     "{person} has the role {role}, and this needs {needed}; ask an admin for a certificate with "
     "that role",
     "{person} 的角色是 {role}，而此操作需要 {needed}；请向管理员申请具有该角色的证书"},
    {"identity.agents_only", "{subject} is no agent, and this call is for agents only",
     "{subject} 不是代理，而此调用只供代理使用"},
    {"identity.people_only", "{subject} is an agent, and this call is for people only",
     "{subject} 是代理，而此调用只供人员使用"},
    {"identity.bad_name",
     "the name \"{name}\" is not allowed: use 1 to 63 letters, digits, '-', '_' and '.', beginning "
     "with a letter or digit",
     "名称“{name}”不合规：请使用 1 到 63 个字母、数字、“-”、“_”或“.”，并以字母或数字开头"},
    {"identity.token_unknown",
     "this coordinator does not know the join token; copy the whole line again, or ask for a new "
     "token",
     "协调器不认识该加入令牌；请重新完整复制加入命令，或申请新的令牌"},
    {"identity.token_used",
     "the join token for {subject} was used already (each works once); ask for a new one",
     "{subject} 的加入令牌已被使用（每个只能用一次）；请申请新的令牌"},
    {"identity.token_expired",
     "the join token for {subject} expired at {expired}; ask for a new one",
     "{subject} 的加入令牌已于 {expired} 过期；请申请新的令牌"},
    {"identity.bad_token_request",
     "a token is for one server, one vantage, or one person with a role",
     "令牌必须对应一台服务器、一个观测点，或一名有角色的人员"},
    {"identity.bad_token_validity",
     "a token may be valid for more than nothing and at most 30 days, not {validity}",
     "令牌有效期须大于零且不超过 30 天，而不是 {validity}"},
    {"identity.certificate_expired", "the certificate has expired; join again with a new token",
     "证书已过期；请用新令牌重新加入"},
    {"identity.certificate_revoked",
     "the certificate of {subject} was revoked ({reason}); if that was a mistake, join again with "
     "a new token",
     "{subject} 的证书已被吊销（{reason}）；如属误操作，请用新令牌重新加入"},
    {"identity.certificate_unknown",
     "this coordinator does not know the certificate; join again with a new token",
     "本协调器不认识该证书；请用新令牌重新加入"},
    {"identity.nothing_to_revoke",
     "the {kind} {name} has no valid certificate; `assay agent list` shows who has",
     "{kind} {name} 没有有效证书；可用 assay agent list 查看"},
    {"identity.certificate_needed",
     "this call needs a certificate; join first: `assay token create` prints the command",
     "此调用需要证书；请先加入：assay token create 会给出命令"},
};

}  // namespace

absl::Span<const CatalogueEntry> Identity() { return kIdentityEntries; }

}  // namespace assay::messages
