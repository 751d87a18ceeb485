// What the plan promises a criterion: which probes measure its metric, from where and when, and how
// that falls into groups.
#ifndef ASSAY_CORE_VERDICT_GROUPS_H_
#define ASSAY_CORE_VERDICT_GROUPS_H_

#include <string>
#include <tuple>
#include <vector>

#include "assay/v1/model.pb.h"
#include "core/verdict/evaluate.h"

namespace assay::verdict {

// Results of one probe from one place in one window.
struct Cell {
  std::string vantage;  // empty: the server itself
  std::string window;
  std::string probe;

  friend bool operator==(const Cell&, const Cell&) = default;
  friend bool operator<(const Cell& a, const Cell& b) {
    return std::tie(a.vantage, a.window, a.probe) < std::tie(b.vantage, b.window, b.probe);
  }
};

struct Group {
  std::string vantage;  // as GroupVerdict.vantage
  std::string window;
  std::vector<Cell> cells;  // each of which must hold a usable result
  // What the criterion names and the plan does not have: such a group can never pass. A vantage's
  // name, or "carrier:unicom", "kind:office", "window:peak", "probe:ssh". Empty: nothing.
  std::string gap;
};

// In the order of the plan's vantages (the server itself before them) and windows, gaps last. Empty
// where no probe of the plan yields the metric at all.
//
// A probe yields the metrics whose name begins with its kind: "icmp.loss_ratio" comes from `icmp`.
// A criterion whose scope names vantages, kinds or carriers does not look at the server itself.
std::vector<Group> ExpectedGroups(const VerdictInput& input, const v1::Criterion& criterion);

}  // namespace assay::verdict

#endif  // ASSAY_CORE_VERDICT_GROUPS_H_
