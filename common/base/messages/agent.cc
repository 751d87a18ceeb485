#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kAgentEntries[] = {
    // Tasks
    {"agent.unknown_probe",
     "this agent (version {version}) has no probe of the kind that \"{probe}\" needs; upgrade it",
     "此代理（版本 {version}）不支持“{probe}”所需类型的探测；请升级代理"},
    {"agent.start_too_late",
     "the agent was busy with other probes until it was too late to start; allow more in parallel "
     "(--max-parallel) or plan fewer at the same time",
     "代理一直忙于其他探测，错过了开始时间；请提高并行数（--max-parallel）或减少同时计划的探测"},
    {"agent.time_limit",
     "the probe did not end within its time limit of {limit} and was stopped; look at what holds "
     "this host up",
     "探测未在时间限制 {limit} 内结束，已被停止；请检查本机被什么拖慢"},
    {"agent.no_room",
     "the agent keeps too many results that it cannot deliver, or its disk is full, so it did not "
     "start; free its disk and check its connection",
     "代理积压了太多尚未送达的结果，或其磁盘已满，因此未开始探测；请清理磁盘并检查其连接"},
    {"agent.result_too_large",
     "the result has {bytes} bytes, more than the {limit_bytes} that can be sent; use a smaller "
     "count",
     "结果有 {bytes} 字节，超过可发送的 {limit_bytes} 字节；请减小探测次数"},
    {"agent.broken", "the agent itself failed: {detail}; please report this",
     "代理自身出错：{detail}；请报告此问题"},
    // Spool
    {"agent.spool_file_damaged", "the spooled result {file} is damaged: {detail}",
     "暂存的结果 {file} 已损坏：{detail}"},
    {"agent.spool_full",
     "the spool {directory} holds {limit_bytes} bytes of results that are not delivered; check the "
     "connection to the coordinator",
     "暂存目录 {directory} 中未送达的结果已达 {limit_bytes} 字节；请检查与协调器的连接"},
    // Enrolment and command line
    {"agent.already_enrolled",
     "{directory} holds an enrolment already; run it with `assay-agent run --state-dir "
     "{directory}`, or add --replace to take its place",
     "{directory} 中已有注册；可用 assay-agent run --state-dir {directory} 运行，或加 --replace "
     "取而代之"},
    {"agent.not_enrolled",
     "{directory} holds no enrolment; run the join command that `assay token create` prints",
     "{directory} 中没有注册；请运行 assay token create 给出的加入命令"},
    {"agent.token_for_person",
     "this token was for the person {person} and is spent now; make one with `assay token create "
     "--server NAME` or `--vantage NAME`",
     "此令牌是给人员 {person} 的，且已被用掉；请用 assay token create --server 名称 或 "
     "--vantage 名称 创建"},
    {"agent.enrolment_failed",
     "no trusted connection to {peer}: {detail}; check that its certificate has the name that is "
     "dialled, and this host's clock",
     "无法与 {peer} 建立可信连接：{detail}；请确认其证书包含所用的名称，并检查本机时钟"},
    {"agent.token_missing",
     "no join token; give it in the environment variable ASSAY_JOIN_TOKEN, by --token-file or by "
     "--token",
     "没有加入令牌；请用环境变量 ASSAY_JOIN_TOKEN、--token-file 或 --token 提供"},
    {"agent.config_missing",
     "there is no configuration {path}; create it, or leave --config out to probe the plan's "
     "servers only",
     "配置文件 {path} 不存在；请创建它，或省略 --config 以只探测计划中的服务器"},
    {"agent.joined_server",
     "Enrolled for the server {subject} with {coordinator}.\nStart it: assay-agent run --state-dir "
     "{directory}",
     "已在 {coordinator} 注册为服务器 {subject} 的代理。\n启动：assay-agent run --state-dir "
     "{directory}"},
    {"agent.joined_vantage",
     "Enrolled for the vantage {subject} with {coordinator}.\nStart it: assay-agent run "
     "--state-dir "
     "{directory}",
     "已在 {coordinator} 注册为观测点 {subject} 的代理。\n启动：assay-agent run --state-dir "
     "{directory}"},
    // Help
    {"agent.help", "Assay's agent: probes from this host, for a coordinator or by hand",
     "Assay 代理：在本机上按协调器的计划或手动执行探测"},
    {"agent.help_lang", "language of messages: zh or en", "消息语言：zh 或 en"},
    {"agent.help_state_dir", "where the agent keeps its identity and undelivered results",
     "代理保存身份和未送达结果的目录"},
    {"agent.help_join", "enrol this host with a join token", "用加入令牌注册本机"},
    {"agent.help_coordinator", "HOST:PORT of the coordinator", "协调器的 主机:端口"},
    {"agent.help_token",
     "the join token; other users of this host can see it here, so better in ASSAY_JOIN_TOKEN",
     "加入令牌；写在命令行上会被本机其他用户看到，建议放入 ASSAY_JOIN_TOKEN"},
    {"agent.help_token_file", "a file that holds the join token", "保存加入令牌的文件"},
    {"agent.help_fingerprint", "fingerprint of the coordinator's CA, sha256:...",
     "协调器 CA 的指纹，sha256:..."},
    {"agent.help_replace", "take the place of the enrolment that is there", "取代已有的注册"},
    {"agent.help_run", "work for the coordinator until stopped", "为协调器工作，直到被停止"},
    {"agent.help_config", "what this host allows; default {path}, if it is there",
     "本机允许的内容；默认为 {path}（若存在）"},
    {"agent.help_max_parallel", "probes that run at the same time", "同时执行的探测数"},
    {"agent.help_spool_limit",
     "stop taking tasks when this much is not delivered, for example 500MB",
     "未送达的结果达到此大小时不再接受任务，例如 500MB"},
    {"agent.help_version", "print the version", "显示版本"},
};

}  // namespace

absl::Span<const CatalogueEntry> Agent() { return kAgentEntries; }

}  // namespace assay::messages
