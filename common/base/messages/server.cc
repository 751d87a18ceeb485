#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kServerEntries[] = {
    {"server.unknown_run", "no run {run}; `assay run list` shows the ones there are",
     "没有运行 {run}；可用 assay run list 查看现有运行"},
    {"server.unknown_plan", "no plan {name}; apply one first: assay apply -f plan.yaml",
     "没有计划 {name}；请先应用一个：assay apply -f plan.yaml"},
    {"server.unknown_server",
     "no server {name} is known; describe it in a document of kind server and run `assay apply -f`",
     "没有名为 {name} 的服务器；请在 kind: server 文档中描述它，然后运行 assay apply -f"},
    {"server.unknown_vantage",
     "no vantage {name} is known; describe it in a document of kind vantage and run `assay apply "
     "-f`",
     "没有名为 {name} 的观测点；请在 kind: vantage 文档中描述它，然后运行 assay apply -f"},
    {"server.unknown_profile", "no profile {name} is known; apply it first",
     "没有名为 {name} 的判据集；请先应用它"},
    {"server.unknown_document", "no {kind} {name} is stored; apply it first",
     "没有保存 {kind} {name}；请先应用它"},
    {"server.unknown_result", "no result {id}; `assay result list` shows the ones there are",
     "没有结果 {id}；可用 assay result list 查看现有结果"},
    {"server.no_run_of_server",
     "no run has tested the server {name} yet; start one: assay run start PLAN",
     "还没有运行测试过服务器 {name}；请启动一个：assay run start 计划名"},
    {"server.server_not_in_run",
     "run {run} does not test the server {name}; name another run, or none for the newest",
     "运行 {run} 不测试服务器 {name}；请指定别的运行，或不指定以取最新的"},
    {"server.plan_names_unknown",
     "plan {plan} names the {kind} {name}, which is not known; put its document into the same file "
     "or apply it first",
     "计划 {plan} 引用了未知的 {kind} {name}；请把其文档放进同一文件，或先应用它"},
    {"server.document_twice", "the {kind} {name} comes twice; keep one",
     "{kind} {name} 出现了两次；请只保留一个"},
    {"server.run_not_active", "run {run} is not active any more", "运行 {run} 已不在进行中"},
    {"server.cancelled_by", "cancelled by {person}", "由 {person} 取消"},
    {"server.agent_restarted", "the agent restarted and its window had closed",
     "代理重新启动时窗口已关闭"},
    {"server.agent_replaced", "another agent was enrolled in its place, and the window had closed",
     "已改由另一个代理接替，且窗口已关闭"},
    {"server.lease_ran_out",
     "the agent neither finished nor gave it back, and the window had closed",
     "代理既未完成也未交还任务，且窗口已关闭"},
    {"server.missed_agent_away",
     "the agent of {subject} was not connected before the window closed",
     "在窗口关闭之前 {subject} 的代理一直未连接"},
    {"server.missed_window_closed", "the window closed before {subject} could start it",
     "在 {subject} 能开始之前窗口已关闭"},
    {"server.agent_never_came_back",
     "the agent of {subject} took the task and did not come back before the run ended",
     "{subject} 的代理领取任务后，到运行结束都没有再连接"},
    {"server.no_agent_vantage",
     "no agent is connected for the vantage {name}: its tasks will be missed; see `assay agent "
     "list`",
     "观测点 {name} 没有已连接的代理，其任务会错过；请查看 assay agent list"},
    {"server.no_agent_server",
     "no agent is connected for the server {name}: its own tasks will be missed; see `assay agent "
     "list`",
     "服务器 {name} 没有已连接的代理，其自身的任务会错过；请查看 assay agent list"},
    {"server.clock_is_off",
     "the clock of {name} is off by {offset}; results are placed by the coordinator's clock, but "
     "set up time synchronisation there",
     "{name} 的时钟偏差 {offset}；结果按协调器的时钟定位，但请在该主机上配置时间同步"},
    {"server.evidence_unreadable", "the evidence cannot be read: {detail}",
     "证据无法读取：{detail}"},
    {"server.session_replaced", "the same agent has connected again; this connection is closed",
     "同一代理已重新连接，本连接关闭"},
    {"server.session_overflow", "the agent reads too slowly; it may connect again",
     "代理读取太慢；可以重新连接"},
    {"server.hello_expected", "the first message of a session must be Hello",
     "会话的第一条消息必须是 Hello"},
    {"server.overloaded", "the coordinator has too much to do at the moment; try again",
     "协调器目前过于繁忙；请稍后重试"},
    {"server.cannot_store_now", "the coordinator cannot store at the moment; its log says why",
     "协调器目前无法保存数据；原因见其日志"},
    {"server.stopping", "the coordinator is stopping; try again when it is back",
     "协调器正在停止；请在其恢复后重试"},
    {"server.cannot_listen",
     "cannot listen on {address}: the port is in use or the address is not this host's; stop the "
     "other program or give another with --listen",
     "无法在 {address} 上监听：端口已被占用或地址不属于本机；请停止占用端口的程序，或用 --listen "
     "指定别的地址"},
    {"server.already_initialised",
     "{dir} already holds a coordinator; serve it with `assayd serve --dir {dir}`, or give another "
     "directory",
     "{dir} 中已有协调器；可用 assayd serve --dir {dir} 启动，或换一个目录"},
    {"server.not_initialised",
     "{dir} holds no coordinator; create one with `assayd init --dir {dir} --name NAME --address "
     "HOST:PORT`",
     "{dir} 中没有协调器；请用 assayd init --dir {dir} --name 名称 --address 主机:端口 创建"},
    {"server.initialised",
     "Coordinator {name} is ready in {dir}.\nStart it:            assayd serve --dir {dir}\nAs its "
     "first admin:  "
     "assay --context {dir}/admin whoami\nAgents and people dial {address}.",
     "协调器 {name} 已在 {dir} 中就绪。\n启动：            assayd serve --dir "
     "{dir}\n以首位管理员身份："
     "assay --context {dir}/admin whoami\n代理和人员连接 {address}。"},
    {"server.bad_settings", "{path}: {detail}", "{path}：{detail}"},
};

}  // namespace

absl::Span<const CatalogueEntry> Server() { return kServerEntries; }

}  // namespace assay::messages
