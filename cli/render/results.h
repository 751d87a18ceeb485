// Results: what a task yielded.
#ifndef ASSAY_CLI_RENDER_RESULTS_H_
#define ASSAY_CLI_RENDER_RESULTS_H_

#include <string>

#include "assay/v1/control.pb.h"
#include "cli/render/view.h"

namespace assay::render {

std::string Results(const v1::ListResultsResponse& results, const View& view);
// Everything known of one result; JSON also has the derived `summary`.
std::string Result(const v1::StoredResult& result, const View& view);

// The two or three figures that say most, on one line: "loss_ratio 0 %, rtt_ms 12.3 ms"; the reason
// where nothing was measured.
std::string Headline(const v1::StoredResult& result, const View& view);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_RESULTS_H_
