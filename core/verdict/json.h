// A verdict as the JSON object that `assay verdict --output json` prints.
#ifndef ASSAY_CORE_VERDICT_JSON_H_
#define ASSAY_CORE_VERDICT_JSON_H_

#include "assay/v1/result.pb.h"
#include "common/base/message.h"
#include "nlohmann/json_fwd.hpp"

namespace assay::verdict {

// Keys: server, decision ("accepted", "rejected", "inconclusive"), criteria, digest, then run,
// plan, reason, notes, tasks, evaluated_at. A criterion has id, severity, decision ("pass", "fail",
// "inconclusive"), then the figures of its deciding group: value, interval [low, high], threshold,
// unit, samples, effective_samples, days, reason, runs_to_decide; then metric, statistic,
// comparison, confidence and groups, each with the same figures and vantage, window, runs,
// design_effect, notes, first_at, last_at, result_ids. Numbers are in `unit` (a ratio of 0.01 is
// 1 %). null: no figure, or an end of the interval that the samples do not give. Sentences are in
// `language`, every other word is not translated. Times are RFC 3339 in UTC.
nlohmann::ordered_json ToJson(const v1::Verdict& verdict, Language language);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_JSON_H_
