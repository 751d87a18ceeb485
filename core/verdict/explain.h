// A verdict in plain words.
#ifndef ASSAY_CORE_VERDICT_EXPLAIN_H_
#define ASSAY_CORE_VERDICT_EXPLAIN_H_

#include <string>
#include <vector>

#include "assay/v1/result.pb.h"
#include "common/base/message.h"

namespace assay::verdict {

// Lines without their line breaks, indented by two spaces a level: the decision and why; then each
// criterion with its threshold, each of its groups with figure, interval, results and times, and
// what would decide it. Times carry the UTC offset of the window's zone.
std::vector<std::string> ExplainLines(const v1::Verdict& verdict, Language language);

// "accepted", "pass", ... in the reader's language.
std::string DecisionWord(v1::ServerDecision decision, Language language);
std::string DecisionWord(v1::CriterionDecision decision, Language language);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_EXPLAIN_H_
