// The metric catalogue: every figure a criterion may name, in one table.
#ifndef ASSAY_CORE_METRIC_CATALOGUE_H_
#define ASSAY_CORE_METRIC_CATALOGUE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"
#include "assay/v1/options.pb.h"

namespace assay::metric {

enum class Shape { kProportion, kSamples };
enum class Direction { kLowerIsBetter, kHigherIsBetter };
// What kind of thing it says something about: the reading rules differ.
enum class Family { kRoute, kService };

struct MetricInfo {
  const char* name;  // "icmp.loss_ratio"
  v1::Unit unit;
  Shape shape;
  Direction direction;
  Family family;
  v1::Statistic default_statistic;
  const char* source;         // RFC, manual, ...
  const char* definition_en;  // one sentence
  const char* definition_zh;
};

const std::vector<MetricInfo>& Catalogue();

// nullptr for an unknown name.
const MetricInfo* Find(absl::string_view name);

// The unit as it is shown: "ms", "%", "B/s"; "" for counts and plain numbers.
std::string UnitSymbol(v1::Unit unit);

}  // namespace assay::metric

#endif  // ASSAY_CORE_METRIC_CATALOGUE_H_
