#include "common/base/messages/areas.h"

namespace assay::messages {
namespace {

// {at} is "file:line:column: " in a document and "" elsewhere.
constexpr CatalogueEntry kDocumentEntries[] = {
    // ---- values with units
    {"document.bad_duration",
     "{at}\"{text}\" is not a duration; write it like 50ms, 1.5s, 5m, 1h30m or 7d",
     "{at}“{text}”不是时长；请写成 50ms、1.5s、5m、1h30m 或 7d 的形式"},
    {"document.duration_without_unit",
     "{at}the duration {number} has no unit; write for example {number}s, {number}ms or {number}m",
     "{at}时长 {number} 没有单位；请写成例如 {number}s、{number}ms 或 {number}m"},
    {"document.duration_too_long", "{at}the duration {text} is too long; at most {most}",
     "{at}时长 {text} 过长；最多 {most}"},
    {"document.duration_too_fine",
     "{at}the duration {text} is finer than a nanosecond; write fewer decimals",
     "{at}时长 {text} 比一纳秒还细；请减少小数位数"},
    {"document.bad_quantity", "{at}\"{text}\" is not a number with a unit; write it like {example}",
     "{at}“{text}”不是带单位的数值；请写成 {example} 的形式"},
    {"document.bad_number", "{at}\"{text}\" is not a plain number; write it like {example}",
     "{at}“{text}”不是普通数字；请写成 {example} 的形式"},
    {"document.missing_unit", "{at}the value {number} has no unit; write it like {example}",
     "{at}数值 {number} 没有单位；请写成 {example} 的形式"},
    {"document.unknown_unit",
     "{at}\"{text}\" has the unit \"{unit}\", which does not fit here; write it like {example} "
     "(one of {known}; upper and lower case matter)",
     "{at}“{text}”的单位“{unit}”不适用于此处；请写成 {example} "
     "的形式（可用单位：{known}；区分大小写）"},
    {"document.ratio_too_large",
     "{at}{text} is more than 100 %; write a share between 0% and 100%, such as 1%",
     "{at}{text} 超过了 100 %；请写 0% 到 100% 之间的比例，例如 1%"},
    {"document.ambiguous_ratio", "{at}{text} could mean 1 % or 100 %; write 1% or 100%",
     "{at}{text} 既可能是 1 % 也可能是 100 %；请写成 1% 或 100%"},
    // ---- windows
    {"window.unknown_zone",
     "{at}unknown time zone \"{text}\"; write an IANA name such as Asia/Shanghai (the names come "
     "from the system's tzdata)",
     "{at}未知的时区“{text}”；请写 IANA 名称，例如 Asia/Shanghai（名称来自系统的 tzdata）"},
    {"window.no_zone",
     "{at}window {window} has no time zone; give time_zone to the window or to the plan, for "
     "example "
     "Asia/Shanghai",
     "{at}窗口 {window} 没有时区；请为该窗口或计划填写 time_zone，例如 Asia/Shanghai"},
    {"window.bad_time",
     "{at}\"{text}\" is not a time of day; write it like 19:30 or 19:30:00, at most 24:00",
     "{at}“{text}”不是一天中的时刻；请写成 19:30 或 19:30:00 的形式，最晚 24:00"},
    {"window.start_at_24", "{at}an interval cannot start at {text}; write 00:00 of the next day",
     "{at}时段不能从 {text} 开始；请写次日的 00:00"},
    {"window.bad_date", "{at}\"{text}\" is not a date; write it like 2026-10-01",
     "{at}“{text}”不是日期；请写成 2026-10-01 的形式"},
    {"window.overlap",
     "{at}window {window} opens twice at the same time: {first} and {second} overlap; join or "
     "separate them",
     "{at}窗口 {window} 在同一时间打开两次：{first} 与 {second} 重叠；请合并或分开"},
    {"window.civil_or_relative",
     "{at}window {window} needs either intervals or relative, and not both; for example an "
     "interval "
     "with start: \"19:00\" and end: \"23:00\"",
     "{at}窗口 {window} 须写 intervals 或 relative 之一，且不能都写；例如 start: \"19:00\"、end: "
     "\"23:00\" 的时段"},
    {"window.bad_relative",
     "{at}the relative times of window {window} are out of range; after is at least 0s, length "
     "more "
     "than 0s, both at most 366d",
     "{at}窗口 {window} 的相对时间超出范围；after 不小于 0s，length 大于 0s，两者最多 366d"},
    {"window.bad_run_length",
     "{at}the length of plan {plan} is out of range; write more than 0s and at most 366d",
     "{at}计划 {plan} 的 length 超出范围；须大于 0s 且不超过 366d"},
    // ---- timetables
    {"schedule.unknown_server",
     "{at}plan {plan} names server {name}, which is not known; apply its document first",
     "{at}计划 {plan} 提到的服务器 {name} 不存在；请先应用它的文档"},
    {"schedule.unknown_vantage",
     "{at}plan {plan} names vantage {name}, which is not known; apply its document first",
     "{at}计划 {plan} 提到的观测点 {name} 不存在；请先应用它的文档"},
    {"schedule.unknown_window",
     "{at}probe {probe} of plan {plan} names window {name}, which the plan does not have",
     "{at}计划 {plan} 的探测 {probe} 提到窗口 {name}，但计划中没有这个窗口"},
    {"schedule.too_many_tasks",
     "{at}plan {plan} makes more than {most} tasks; use fewer repetitions, windows or days",
     "{at}计划 {plan} 会产生超过 {most} 个任务；请减少重复次数、窗口或天数"},
    {"schedule.nothing_runs",
     "{at}nothing of plan {plan} would ever run: no window opens during the run for a probe that "
     "selects an agent; look at windows, length and from",
     "{at}计划 {plan} 没有任何可运行的内容：运行期间没有窗口会为选中代理的探测打开；请检查 "
     "windows、length 与 from"},
    {"schedule.window_never_opens", "window {window} of plan {plan} does not open during the run",
     "计划 {plan} 的窗口 {window} 在运行期间不会打开"},
    {"schedule.no_vantage_selected", "probe {probe} of plan {plan} selects no vantage of the plan",
     "计划 {plan} 的探测 {probe} 没有选中计划中的任何观测点"},
    {"schedule.probe_longer_than_window",
     "probe {probe} of plan {plan} takes about {seconds} s, which is longer than window {window} "
     "is open; it will reach beyond the window",
     "计划 {plan} 的探测 {probe} 约需 {seconds} 秒，超过窗口 {window} "
     "的打开时间；探测会超出该窗口"},
};

}  // namespace

absl::Span<const CatalogueEntry> Document() { return kDocumentEntries; }

}  // namespace assay::messages
