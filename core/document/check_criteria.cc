#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status_macros.h"
#include "core/document/checker.h"
#include "core/document/nearest.h"
#include "core/document/position.h"
#include "core/document/schema.h"
#include "core/document/units.h"
#include "core/metric/catalogue.h"

namespace assay::document {
namespace {

constexpr int kMostCriteria = 1'000;

// "icmp" of icmp.loss_ratio: the kind of probe that yields it.
std::string ProbeKindOf(const std::string& metric) { return metric.substr(0, metric.find('.')); }

bool Yields(const v1::Probe& probe, const std::string& metric) {
  const auto* field = probe.GetReflection()->GetOneofFieldDescriptor(
      probe, v1::Probe::descriptor()->FindOneofByName("kind"));
  return field != nullptr && field->name() == ProbeKindOf(metric);
}

class CriterionChecker {
 public:
  CriterionChecker(const Checker& checker, const v1::Criterion& criterion, std::string path)
      : checker_(checker), criterion_(criterion), path_(std::move(path)) {}

  absl::Status CheckItself() {
    ASSAY_RETURN_IF_ERROR(checker_.Name(Join(path_, "id"), criterion_.id()));
    const metric::MetricInfo* metric = metric::Find(criterion_.metric());
    if (metric == nullptr) return UnknownMetric();
    ASSAY_RETURN_IF_ERROR(checker_.At(
        Join(path_, "threshold"), ParseQuantity(criterion_.threshold(), metric->unit).status()));
    ASSAY_RETURN_IF_ERROR(CheckStatistic(*metric));
    if (criterion_.confidence_ratio() != 0 &&
        (criterion_.confidence_ratio() <= 0.5 || criterion_.confidence_ratio() >= 1)) {
      return checker_.Fail(
          Join(path_, "confidence"), "document.bad_confidence",
          {{"text", WriteQuantity(criterion_.confidence_ratio(), v1::UNIT_RATIO)}});
    }
    std::set<int> groupings(criterion_.per().begin(), criterion_.per().end());
    if (static_cast<int>(groupings.size()) != criterion_.per_size()) {
      return checker_.Fail(Join(path_, "per"), "document.grouping_twice");
    }
    if (groupings.count(v1::GROUPING_POOLED) > 0 && groupings.size() > 1) {
      return checker_.Fail(Join(path_, "per"), "document.pooled_with_others");
    }
    return absl::OkStatus();
  }

  absl::Status CheckAgainst(const v1::Plan& plan) {
    const v1::CriterionScope& where = criterion_.where();
    std::vector<std::string> windows, probes;
    for (const v1::Window& window : plan.windows()) windows.push_back(window.name());
    for (const v1::Probe& probe : plan.probes()) probes.push_back(probe.name());
    std::vector<std::string> vantages(plan.vantages().begin(), plan.vantages().end());
    ASSAY_RETURN_IF_ERROR(
        CheckNames("windows", where.windows(), windows, "document.no_such_window"));
    ASSAY_RETURN_IF_ERROR(
        CheckNames("vantages", where.vantages(), vantages, "document.no_such_vantage"));
    ASSAY_RETURN_IF_ERROR(CheckNames("probes", where.probes(), probes, "document.no_such_probe"));
    bool some_yields = false;
    for (const v1::Probe& probe : plan.probes()) {
      bool yields = Yields(probe, criterion_.metric());
      some_yields |= yields;
      auto named = std::find(where.probes().begin(), where.probes().end(), probe.name());
      if (yields || named == where.probes().end()) continue;
      int i = static_cast<int>(named - where.probes().begin());
      return checker_.Fail(Indexed(Join(path_, "where.probes"), i), "document.probe_yields_other",
                           {{"probe", probe.name()}, {"metric", criterion_.metric()}});
    }
    if (some_yields) return absl::OkStatus();
    return checker_.Fail(
        Join(path_, "metric"), "document.no_probe_yields",
        {{"metric", criterion_.metric()}, {"kind", ProbeKindOf(criterion_.metric())}});
  }

 private:
  absl::Status UnknownMetric() {
    std::vector<std::string> names;
    for (const metric::MetricInfo& info : metric::Catalogue()) names.push_back(info.name);
    std::string nearest = Nearest(criterion_.metric(), names);
    return checker_.Fail(Join(path_, "metric"),
                         nearest.empty() ? "document.unknown_metric_of" : "document.unknown_metric",
                         {{"text", criterion_.metric().substr(0, 60)},
                          {"nearest", nearest},
                          {"known", absl::StrJoin(names, ", ")}});
  }

  absl::Status CheckStatistic(const metric::MetricInfo& metric) {
    v1::Statistic statistic = criterion_.statistic();
    if (statistic == v1::STATISTIC_UNSPECIFIED) return absl::OkStatus();
    bool is_ratio = statistic == v1::STATISTIC_RATIO;
    bool proportion = metric.shape == metric::Shape::kProportion;
    if (is_ratio == proportion) return absl::OkStatus();
    std::vector<std::string> words = WordsOf(*v1::Statistic_descriptor());
    const std::string ratio =
        WordOf(*v1::Statistic_descriptor()->FindValueByNumber(v1::STATISTIC_RATIO));
    if (proportion) {
      words = {ratio};
    } else {
      words.erase(std::remove(words.begin(), words.end(), ratio), words.end());
    }
    return checker_.Fail(
        Join(path_, "statistic"), "document.statistic_of_other_shape",
        {{"text", WordOf(*v1::Statistic_descriptor()->FindValueByNumber(statistic))},
         {"metric", metric.name},
         {"known", absl::StrJoin(words, ", ")}});
  }

  absl::Status CheckNames(absl::string_view key,
                          const google::protobuf::RepeatedPtrField<std::string>& names,
                          const std::vector<std::string>& known, absl::string_view id) {
    for (int i = 0; i < names.size(); ++i) {
      if (std::find(known.begin(), known.end(), names[i]) != known.end()) continue;
      return checker_.Fail(Indexed(Join(Join(path_, "where"), key), i), id,
                           {{"text", names[i]}, {"known", absl::StrJoin(known, ", ")}});
    }
    return absl::OkStatus();
  }

  const Checker& checker_;
  const v1::Criterion& criterion_;
  const std::string path_;
};

}  // namespace

absl::Status CheckCriteria(const Checker& checker,
                           const google::protobuf::RepeatedPtrField<v1::Criterion>& criteria,
                           const v1::Plan* plan) {
  if (criteria.size() > kMostCriteria) {
    return checker.Fail("criteria", "document.list_too_long",
                        {{"most", absl::StrCat(kMostCriteria)}});
  }
  std::set<std::string> ids;
  for (int i = 0; i < criteria.size(); ++i) {
    const std::string path = Indexed("criteria", i);
    CriterionChecker criterion(checker, criteria[i], path);
    ASSAY_RETURN_IF_ERROR(criterion.CheckItself());
    if (plan != nullptr) ASSAY_RETURN_IF_ERROR(criterion.CheckAgainst(*plan));
    if (!ids.insert(criteria[i].id()).second) {
      return checker.Fail(Join(path, "id"), "document.listed_twice", {{"text", criteria[i].id()}});
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::document
