#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kCliEntries[] = {
    // ---- the line that was typed
    {"cli.unknown_argument", "\"{argument}\" is not expected here", "此处不应有“{argument}”"},
    {"cli.missing_command", "a command is missing", "缺少命令"},
    {"cli.missing_argument", "{argument} is missing", "缺少 {argument}"},
    {"cli.not_a_number", "{argument} needs a number, not \"{value}\"",
     "{argument} 需要一个数字，而不是“{value}”"},
    {"cli.one_of", "give exactly one of: {options}", "请只给出其中一个：{options}"},
    {"cli.bad_line", "{detail}", "命令行有误：{detail}"},
    {"cli.see_help", "; see {command} --help", "；请参阅 {command} --help"},
    {"cli.bad_time",
     "\"{value}\" is not a time; write 2026-12-04, \"2026-12-04 18:00\" or "
     "2026-12-04T18:00:00+08:00",
     "“{value}”不是有效的时间；请写 2026-12-04、\"2026-12-04 18:00\" 或 2026-12-04T18:00:00+08:00"},
    {"cli.unknown_role", "unknown role \"{role}\"; write viewer, operator or admin",
     "未知角色“{role}”；请写 viewer、operator 或 admin"},
    {"cli.role_missing", "a person needs a role: add --role viewer, operator or admin",
     "人员需要角色：请加上 --role viewer、operator 或 admin"},
    {"cli.role_for_people", "--role is for people only; leave it out for an agent's token",
     "--role 只用于人员；为代理创建令牌时请勿使用"},
    {"cli.no_plan_in_file", "there is no plan in the files; add a document with `kind: plan`",
     "文件中没有计划；请加入一个 kind: plan 的文档"},
    {"cli.plan_not_in_file", "the files have no plan \"{plan}\"; check the name given with --plan",
     "文件中没有计划“{plan}”；请检查 --plan 给出的名称"},
    {"cli.several_plans", "the files have several plans ({plans}); choose one with --plan",
     "文件中有多个计划（{plans}）；请用 --plan 选择一个"},

    // ---- contexts and the coordinator
    {"cli.no_context",
     "{dir} does not say which coordinator to talk to; run the join command that an admin sent "
     "you, or give another directory with --context",
     "{dir} 中没有协调器的连接信息；请运行管理员发来的加入命令，或用 --context 指定别的目录"},
    {"cli.context_exists",
     "{dir} already holds a certificate; add --replace to replace it, or give another directory "
     "with --context",
     "{dir} 中已有证书；如需替换请加 --replace，或用 --context 指定别的目录"},
    {"cli.no_token",
     "no join token: give it with --token or --token-file, or in the environment variable "
     "ASSAY_JOIN_TOKEN",
     "没有加入令牌：请用 --token 或 --token-file 给出，或放入环境变量 ASSAY_JOIN_TOKEN"},
    {"cli.token_is_an_agents",
     "that token was for the agent of {name}, not for a person, and is used up now; create a new "
     "one and run `assay-agent join` on that host",
     "该令牌属于 {name} 的代理而不是人员，现已用掉；请创建新令牌并在该主机上运行 assay-agent join"},
    {"cli.joined", "You are {person} ({role}). The certificate is in {dir}; try: assay whoami",
     "您的身份是 {person}（{role}）。证书保存在 {dir}；可试：assay whoami"},
    {"cli.no_answer",
     "the coordinator {coordinator} accepts connections but did not answer within {timeout}; try "
     "again, or give more time with --timeout",
     "协调器 {coordinator} 接受连接，但在 {timeout} 内没有应答；请重试，或用 --timeout 延长等待"},
    {"cli.unreachable", "the coordinator {coordinator} could not be reached: {detail}; try again",
     "无法与协调器 {coordinator} 通信：{detail}；请重试"},

    // ---- identities
    {"cli.token_for_agent",
     "Run this once on the host of the {kind} {name}:", "请在{kind} {name} 的主机上运行一次："},
    {"cli.token_for_person",
     "Send this to {name}, who runs it once:", "请发给 {name}，由其运行一次："},
    {"cli.token_expires", "It works once, until {time}.", "只能使用一次，有效期至 {time}。"},
    {"cli.revoked", "Revoked {count} certificate(s) of the {kind} {name}.",
     "已吊销{kind} {name} 的 {count} 个证书。"},
    {"cli.no_agents",
     "No agents yet. Create a join command: assay token create --server NAME (or --vantage NAME)",
     "还没有代理。请创建加入命令：assay token create --server 名称（或 --vantage 名称）"},

    // ---- documents
    {"cli.applied", "{kind} {name}: {action}", "{kind} {name}：{action}"},
    {"cli.dry_run", "Nothing was stored (--dry-run).", "未保存任何内容（--dry-run）。"},
    {"cli.document.server", "server", "服务器"},
    {"cli.document.vantage", "vantage", "观测点"},
    {"cli.document.profile", "profile", "判据集"},
    {"cli.document.plan", "plan", "计划"},
    {"cli.preview_heading", "Timetable of plan {plan}", "计划 {plan} 的时间表"},
    {"cli.preview_more", "… and {count} more; --all shows them",
     "……还有 {count} 个；--all 全部显示"},
    {"cli.preview_total", "{tasks} tasks; the last window ends at {end}.",
     "共 {tasks} 个任务；最后一个窗口结束于 {end}。"},
    {"cli.preview_seed",
     "Times within a window are jittered and will differ: the plan has no seed, so one is drawn "
     "when the run starts.",
     "窗口内的具体时刻带有抖动，实际会不同：计划没有给出 seed，运行开始时才抽取。"},

    // ---- runs
    {"cli.no_runs", "No runs yet. Start one: assay run start PLAN",
     "还没有运行。请启动一个：assay run start 计划名"},
    {"cli.run_started_hint", "Follow it: assay run watch {run}", "跟踪进度：assay run watch {run}"},
    {"cli.task_counts",
     "{ended} of {total} ended: {done} done, {failed} failed, {missed} missed, {cancelled} "
     "cancelled",
     "共 {total} 个，已结束 {ended} 个：完成 {done}，失败 {failed}，错过 {missed}，取消 "
     "{cancelled}"},
    {"cli.task_attempt", "{task} (attempt {attempt})", "{task}（第 {attempt} 次尝试）"},
    {"cli.watch_heading", "{run}  plan {plan}  {state}  {ended}/{total} tasks",
     "{run}  计划 {plan}  {state}  {ended}/{total} 个任务"},
    {"cli.watch_running", "running", "正在执行"},
    {"cli.watch_last", "last results", "最近结果"},
    {"cli.watch_next", "next task in {next}, end in {end}", "下一个任务 {next} 后，结束 {end} 后"},
    {"cli.watch_end", "end in {end}", "结束 {end} 后"},
    {"cli.watch_reconnecting", "connection lost ({reason}); the run goes on, connecting again",
     "连接中断（{reason}）；运行仍在继续，正在重新连接"},
    {"cli.run_ended",
     "{run} {state}: {done} done, {failed} failed, {missed} missed, {cancelled} cancelled",
     "{run} {state}：完成 {done}，失败 {failed}，错过 {missed}，取消 {cancelled}"},
    {"cli.no_results", "No results.", "没有结果。"},

    // ---- verdicts
    {"cli.all", "all", "全部"},
    {"cli.verdict_heading", "Verdict on {server}  (run {run}, plan {plan})",
     "服务器 {server} 的结论（运行 {run}，计划 {plan}）"},
    {"cli.verdict_line", "Decision: {decision} — {reason}", "结论：{decision} — {reason}"},
    {"cli.verdict_tasks",
     "tasks: {done} done, {failed} failed, {missed} missed, {cancelled} cancelled, {open} open",
     "任务：完成 {done}，失败 {failed}，错过 {missed}，取消 {cancelled}，未结束 {open}"},
    // A criterion's reason under its row, which has the figures: verdict.<id> shortened.
    {"cli.why.meets", "the whole interval meets the limit", "整个置信区间满足阈值"},
    {"cli.why.violates", "the whole interval violates the limit", "整个置信区间不满足阈值"},
    {"cli.why.straddles", "the interval lies on both sides of the limit", "置信区间跨在阈值两侧"},
    {"cli.why.too_few_for_statistic",
     "{samples} samples are worth {effective} independent ones; {limit} takes at least {needed}",
     "{samples} 个样本只相当于 {effective} 个独立样本；证明 {limit} 至少需要 {needed} 个"},
    {"cli.why.one_result",
     "a single result does not show how much results differ; {limit} can neither be shown nor "
     "refuted",
     "只有一个结果，不知道各次结果之间相差多少，既不能证明也不能否定 {limit}"},
    {"cli.why.too_few_samples", "the criterion asks for at least {needed} samples",
     "判据要求至少 {needed} 个样本"},
    {"cli.why.too_few_days", "the criterion asks for results of {needed} days, there are {days}",
     "判据要求覆盖 {needed} 天，目前只有 {days} 天"},
    {"cli.why.missing_cell", "nothing from probe {probe} for {missing}",
     "缺少探测 {probe} 在 {missing} 的结果"},
    {"cli.why.marked_left_out",
     "results marked {marks} cannot count ({marked}); the others do not decide it",
     "带有标记 {marks} 的结果不能计入（{marked} 个）；其余不足以判定"},
    {"cli.why_separator", "; ", "；"},
    {"cli.why_more", "about {runs} more results like these would probably decide it",
     "再有约 {runs} 个同等规模的结果大概就能判定"},

    // ---- local
    {"cli.program_missing",
     "the program {program} is neither in {dir} nor in $PATH; build or install it beside assay",
     "程序 {program} 既不在 {dir} 也不在 $PATH 中；请编译或安装到 assay 旁边"},
    {"cli.local_missing",
     "plan {plan} names {name}, which is not in the files; `assay local` needs the documents of "
     "all servers and vantages of the plan",
     "计划 {plan} 引用了 {name}，但文件中没有；assay local 需要计划中所有服务器和观测点的文档"},
    {"cli.local_coordinator", "Starting a coordinator in {dir}", "正在 {dir} 中启动协调器"},
    {"cli.local_agent", "Starting the agent {agent}", "正在启动代理 {agent}"},
    {"cli.local_run", "Started {run}", "已启动 {run}"},
    {"cli.local_leftover", "cancelling {run}, left over from an earlier trial in this directory",
     "正在取消此目录中上一次遗留的 {run}"},
    {"cli.local_capability", "! the agent of {agent} cannot run {probe} probes: {reason}",
     "! {agent} 的代理无法执行 {probe} 探测：{reason}"},
    {"cli.local_warning", "! {warning}", "! {warning}"},
    {"cli.local_kept", "The coordinator and its agents keep running; Ctrl-C stops them.",
     "协调器和代理继续运行；按 Ctrl-C 停止。"},
    {"cli.local_interrupted",
     "Interrupted: the run was cancelled and everything stopped; what was measured is in {dir}",
     "已中断：运行已取消，所有进程已停止；已测得的数据在 {dir}"},
    {"cli.child_ended", "{child} has ended ({how}): {last} (whole log: {log})",
     "{child} 已退出（{how}）：{last}（完整日志：{log}）"},
    {"cli.child_slow", "{child} did not come up within {limit}; its log is {log}",
     "{child} 在 {limit} 内未能就绪；日志在 {log}"},
    {"cli.agent_not_connected",
     "the agent {agent} did not connect within {limit}; the last it said: {last} (whole log: "
     "{log})",
     "代理 {agent} 在 {limit} 内未连接；其最后的输出：{last}（完整日志：{log}）"},
    {"cli.next_heading", "To look further:", "接下来可以："},
    {"cli.next_serve", "start the coordinator again, in the background", "在后台重新启动协调器"},
    {"cli.next_explain", "how each criterion was decided", "查看每条判据如何判定"},
    {"cli.next_results", "the results behind it", "查看所依据的结果"},
};

}  // namespace

absl::Span<const CatalogueEntry> Cli() { return kCliEntries; }

}  // namespace assay::messages
