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
};

}  // namespace

absl::Span<const CatalogueEntry> Document() { return kDocumentEntries; }

}  // namespace assay::messages
