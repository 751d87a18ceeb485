#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

constexpr CatalogueEntry kVerdictEntries[] = {
    // Criteria that make no sense.
    {"verdict.unknown_metric",
     "criterion {criterion}: there is no metric {metric}; `assay metric list` shows the ones there "
     "are",
     "判据 {criterion}：没有指标 {metric}；可用 assay metric list 查看现有指标"},
    {"verdict.impossible_statistic",
     "criterion {criterion}: {metric} has no {statistic}; proportions have ratio, samples have "
     "mean, median, p90, p95 and p99",
     "判据 {criterion}：{metric} 没有统计量 {statistic}；比例类指标用 ratio，样本类指标用 "
     "mean、median、p90、p95、p99"},
    {"verdict.pooled_not_alone",
     "criterion {criterion} on {metric}: `per: [pooled]` cannot be combined with vantage or window",
     "判据 {criterion}（{metric}）：per 中的 pooled 不能与 vantage 或 window 同时使用"},
    {"verdict.impossible_confidence",
     "criterion {criterion} on {metric}: the confidence {confidence} is not between 50 % and 100 "
     "%, such as 95%",
     "判据 {criterion}（{metric}）：置信度 {confidence} 不在 50 % 与 100 % 之间，应写成如 95%"},

    // One group of results.
    {"verdict.meets",
     "{where}: {figure} is {value} and the whole {confidence} interval {interval} meets {limit} "
     "(results: {results}; samples: {samples}, worth {effective} independent ones; {first} to "
     "{last})",
     "{where}：{figure} 为 {value}，{confidence} 置信区间 {interval} 全部满足 {limit}（{results} "
     "个结果，{samples} 个样本，相当于 {effective} 个独立样本，{first} 至 {last}）"},
    {"verdict.violates",
     "{where}: {figure} is {value} and the whole {confidence} interval {interval} violates {limit} "
     "(results: {results}; samples: {samples}, worth {effective} independent ones; {first} to "
     "{last})",
     "{where}：{figure} 为 {value}，{confidence} 置信区间 {interval} 全部不满足 {limit}（{results} "
     "个结果，{samples} 个样本，相当于 {effective} 个独立样本，{first} 至 {last}）"},
    {"verdict.straddles",
     "{where}: {figure} is {value}, but the {confidence} interval {interval} lies on both sides of "
     "{limit} (results: {results}; samples: {samples}, worth {effective} independent ones; {first} "
     "to {last})",
     "{where}：{figure} 为 {value}，但 {confidence} 置信区间 {interval} 跨在 {limit} "
     "两侧（{results} 个结果，{samples} 个样本，相当于 {effective} 个独立样本，{first} 至 "
     "{last}）"},
    {"verdict.too_few_for_statistic",
     "{where}: {figure} is {value}, {confidence} interval {interval}; {limit} cannot be shown with "
     "{samples} samples that are worth {effective} independent ones: it takes at least {needed} "
     "(results: {results}; {first} to {last})",
     "{where}：{figure} 为 {value}，{confidence} 置信区间 {interval}；{samples} 个样本只相当于 "
     "{effective} 个独立样本，至少要 {needed} 个才能证明 {limit}（{results} 个结果，{first} 至 "
     "{last}）"},
    {"verdict.one_result",
     "{where}: {figure} is {value}, but from a single result (samples: {samples}; {first}): how "
     "much results differ from one another is unknown, so that {limit} can neither be shown nor "
     "refuted",
     "{where}：{figure} 为 {value}，但只有一个结果（{samples} "
     "个样本，{first}）：不知道各次结果之间相差多少，既不能证明也不能否定 {limit}"},
    {"verdict.too_few_samples",
     "{where}: {limit} asks for at least {needed} samples and there are {samples}; {figure} is "
     "{value} so far, {confidence} interval {interval} (results: {results}; {first} to {last})",
     "{where}：判据 {limit} 要求至少 {needed} 个样本，只有 {samples} 个；目前 {figure} 为 "
     "{value}，{confidence} 置信区间 {interval}（{results} 个结果，{first} 至 {last}）"},
    {"verdict.too_few_days",
     "{where}: {limit} asks for results of at least {needed} days and there are {days}; {figure} "
     "is {value} so far, {confidence} interval {interval} (results: {results}; {first} to {last})",
     "{where}：判据 {limit} 要求至少覆盖 {needed} 天，只有 {days} 天；目前 {figure} 为 "
     "{value}，{confidence} 置信区间 {interval}（{results} 个结果，{first} 至 {last}）"},
    {"verdict.missing_cell",
     "{where}: nothing from probe {probe} for {missing}, so that {limit} cannot be shown; {figure} "
     "of the rest is {value}, {confidence} interval {interval} (results: {results}; {first} to "
     "{last})",
     "{where}：缺少探测 {probe} 在 {missing} 的结果，不能证明 {limit}；其余结果的 {figure} 为 "
     "{value}，{confidence} 置信区间 {interval}（{results} 个结果，{first} 至 {last}）"},
    {"verdict.marked_left_out",
     "{where}: results that are marked {marks} cannot count ({marked}); without them {figure} is "
     "{value}, {confidence} interval {interval}, which does not decide {limit} (results: "
     "{results}; {first} to {last})",
     "{where}：{marked} 个结果带有标记 {marks}，不能计入；除去它们 {figure} 为 "
     "{value}，{confidence} 置信区间 {interval}，不足以判定 {limit}（{results} 个结果，{first} 至 "
     "{last}）"},
    {"verdict.only_marked",
     "{where}: every result with {figure} is marked {marks} and cannot show {limit} ({marked}); "
     "measure again undisturbed",
     "{where}：{marked} 个含 {figure} 的结果全部带有标记 {marks}，不能证明 "
     "{limit}；请在不受干扰时重新测量"},
    {"verdict.nothing_answered",
     "{where}: no result ({count}) has a sample of {figure}, because nothing succeeded; {limit} "
     "cannot be judged",
     "{where}：有 {count} 个结果，但没有一个含有 {figure} 的样本（没有一次成功），无法判定 "
     "{limit}"},
    {"verdict.all_useless",
     "{where}: no result ({count}) has a figure for {figure} {limit}: every probe failed or could "
     "not measure",
     "{where}：{count} 个结果都没有得出 {figure}，无法判定 {limit}：探测全部失败或无法测量"},
    {"verdict.no_results", "{where}: no result for {figure} {limit}",
     "{where}：没有可判定 {figure} {limit} 的结果"},
    {"verdict.gap",
     "{where}: the criterion {figure} {limit} asks for {name}, which the plan does not measure",
     "{where}：判据 {figure} {limit} 要求 {name}，但计划中没有对它的测量"},
    {"verdict.not_in_plan", "no probe of plan {plan} measures {metric}",
     "计划 {plan} 中没有测量 {metric} 的探测"},
    {"verdict.bad_figures", "result {result} holds figures for {metric} that cannot be right",
     "结果 {result} 中 {metric} 的数值不合理"},

    // Beside a group's reason.
    {"verdict.note_useless",
     "results without a usable figure (failed or not measurable): {count}; the first one's reason "
     "follows, where it gave one",
     "{count} 个结果没有可用数值（失败或无法测量）；其后是第一个结果给出的原因（若有）"},
    {"verdict.note_empty", "results without a sample, because nothing succeeded in them: {count}",
     "{count} 个结果没有样本：其中没有一次成功"},
    {"verdict.note_marked", "results left out because they are marked {marks}: {count}",
     "{count} 个结果因带有标记 {marks} 而未计入"},

    // The server.
    {"verdict.accepted", "{server}: every must criterion ({musts}) passes",
     "{server}：{musts} 条 must 判据全部通过"},
    {"verdict.rejected", "{server}: must criteria that fail ({count} of {musts}): {criteria}",
     "{server}：{musts} 条 must 判据中有 {count} 条不通过：{criteria}"},
    {"verdict.undecided",
     "{server}: no must criterion fails, but some are undecided ({count} of {musts}): {criteria}",
     "{server}：{musts} 条 must 判据没有不通过的，但有 {count} 条尚不能判定：{criteria}"},
    {"verdict.no_musts",
     "{server}: there is no must criterion ({musts}), so that nothing can accept it; add one to "
     "the profile or plan",
     "{server}：没有 must 判据（{musts} 条），无从接受；请在判据集或计划中添加"},
    {"verdict.still_running",
     "{server}: every must criterion ({musts}) passes so far, but tasks are still to come ({open})",
     "{server}：{musts} 条 must 判据目前全部通过，但还有 {open} 个任务未完成"},
    {"verdict.only_off_peak",
     "{server}: every must criterion ({musts}) passes, but the route was never measured in a peak "
     "window from {places}; off-peak data alone cannot accept a route",
     "{server}：{musts} 条 must 判据全部通过，但从 {places} "
     "从未在高峰窗口测量过线路；仅凭非高峰数据不能接受线路"},
    {"verdict.preliminary",
     "preliminary: tasks are still open ({open} of {total}); a later evaluation may decide "
     "otherwise",
     "初步结论：{total} 个任务中还有 {open} 个未完成，之后的评定可能不同"},
    {"verdict.note_tasks",
     "of {total} tasks, failed: {failed}, missed: {missed}, cancelled: {cancelled}; they count "
     "against nothing",
     "{total} 个任务中 {failed} 个失败、{missed} 个错过、{cancelled} 个取消，均不计入判定"},

    // Explaining a verdict.
    {"verdict.explain_server", "{decision}: {reason}", "{decision}：{reason}"},
    {"verdict.explain_criterion", "{id} ({severity}), {figure} {limit} at {confidence}: {decision}",
     "{id}（{severity}），{figure} {limit}，置信度 {confidence}：{decision}"},
    {"verdict.explain_why", "why this threshold: {reason}", "设此阈值的理由：{reason}"},
    {"verdict.explain_group", "{decision}: {reason}", "{decision}：{reason}"},
    {"verdict.explain_results", "results {ids}; days: {days}", "结果 {ids}，共 {days} 天"},
    {"verdict.explain_more",
     "more results of this size that would probably decide it, if things stay as they are: about "
     "{runs}",
     "如情况不变，再有约 {runs} 个同等规模的结果大概就能判定"},
    {"verdict.explain_note", "note: {note}", "注：{note}"},
    {"verdict.explain_digest", "digest {digest}", "摘要 {digest}"},
    {"verdict.word_accepted", "accepted", "接受"},
    {"verdict.word_rejected", "rejected", "拒绝"},
    {"verdict.word_inconclusive", "inconclusive", "不能判定"},
    {"verdict.word_pass", "pass", "通过"},
    {"verdict.word_fail", "fail", "不通过"},
};

}  // namespace

absl::Span<const CatalogueEntry> Verdict() { return kVerdictEntries; }

}  // namespace assay::messages
