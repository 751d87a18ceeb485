// A probe's result as a person or another program reads it.
#ifndef ASSAY_AGENT_COMMAND_PROBE_REPORT_H_
#define ASSAY_AGENT_COMMAND_PROBE_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/result.pb.h"
#include "common/base/message.h"
#include "common/term/output.h"
#include "common/term/terminal.h"
#include "nlohmann/json.hpp"

namespace assay::command {

// One object: `kind`, `target`, `outcome` ("ok", "failed", "not_measurable"), `reason` (a sentence)
// and `reason_id` where it is not "ok", `address`, `started_at`, `duration_s`, `summary`
// (evidence::Summarise; null where nothing was measured), of http `errors` [{`text`, `count`}],
// `marks`, `notes`, `versions`. An error where the evidence cannot be read.
absl::StatusOr<nlohmann::ordered_json> ReportJson(absl::string_view kind, absl::string_view target,
                                                  const v1::Result& result, Language language);

// A short block for people.
std::string ReportText(const nlohmann::ordered_json& report, const term::Terminal& terminal,
                       Language language);

// A header and one row; nested keys are joined with '.', in the order of ReportJson.
std::string ReportCsv(const nlohmann::ordered_json& report);

}  // namespace assay::command

#endif  // ASSAY_AGENT_COMMAND_PROBE_REPORT_H_
