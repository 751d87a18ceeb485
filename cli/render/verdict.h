// Verdicts: the table that a procurement lead reads.
//
// One row a criterion and group (vantage, window), its reason under it, then the server's decision
// on one bold line. Fits 100 columns: where names had to be shortened for that, the line with the
// reason begins with them in full.
#ifndef ASSAY_CLI_RENDER_VERDICT_H_
#define ASSAY_CLI_RENDER_VERDICT_H_

#include <string>

#include "assay/v1/result.pb.h"
#include "cli/render/view.h"

namespace assay::render {

// With `explain` the table is followed by core/verdict's explanation of every criterion.
std::string Verdict(const v1::Verdict& verdict, bool explain, const View& view);

// 0 accepted, 1 rejected, 3 inconclusive.
int ExitCode(v1::ServerDecision decision);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_VERDICT_H_
