#include "core/verdict/groups.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/schedule/timetable.h"
#include "core/verdict/words.h"

namespace assay::verdict {
namespace {

template <typename List, typename Value>
bool Names(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <typename List, typename Value>
bool Allows(const List& list, const Value& value) {
  return list.empty() || Names(list, value);
}

bool Yields(const v1::Probe& probe, absl::string_view metric) {
  const google::protobuf::Descriptor* descriptor = v1::Probe::descriptor();
  const google::protobuf::FieldDescriptor* kind =
      probe.GetReflection()->GetOneofFieldDescriptor(probe, descriptor->FindOneofByName("kind"));
  return kind != nullptr && absl::StartsWith(metric, absl::StrCat(kind->name(), "."));
}

bool InScope(const v1::CriterionScope& scope, const v1::Vantage& vantage) {
  return Allows(scope.vantage_kinds(), vantage.kind()) &&
         Allows(scope.vantages(), vantage.name()) && Allows(scope.carriers(), vantage.carrier());
}

bool RestrictsVantages(const v1::CriterionScope& scope) {
  return scope.vantage_kinds_size() + scope.vantages_size() + scope.carriers_size() > 0;
}

// Vantages in the plan's order; whatever else is given follows by name.
std::vector<const v1::Vantage*> InPlanOrder(const VerdictInput& input) {
  std::vector<const v1::Vantage*> vantages;
  for (const v1::Vantage& vantage : input.vantages) vantages.push_back(&vantage);
  auto rank = [&](const v1::Vantage* vantage) {
    const auto& names = input.plan.vantages();
    return std::find(names.begin(), names.end(), vantage->name()) - names.begin();
  };
  std::sort(vantages.begin(), vantages.end(), [&](const auto* a, const auto* b) {
    return std::make_pair(rank(a), a->name()) < std::make_pair(rank(b), b->name());
  });
  return vantages;
}

std::vector<std::string> PlacesOf(const v1::Probe& probe, const v1::CriterionScope& scope,
                                  const std::vector<const v1::Vantage*>& vantages) {
  std::vector<std::string> places;
  if (probe.from().server()) {
    if (!RestrictsVantages(scope)) places.push_back("");
    return places;
  }
  for (const v1::Vantage* vantage : vantages) {
    if (schedule::Selects(probe.from(), *vantage) && InScope(scope, *vantage)) {
      places.push_back(vantage->name());
    }
  }
  return places;
}

// Names of the criterion's scope that none of its cells covers.
std::vector<std::string> Gaps(const VerdictInput& input, const v1::CriterionScope& scope,
                              const std::vector<Cell>& cells) {
  std::set<std::string> vantages;
  std::set<std::string> windows;
  std::set<std::string> probes;
  for (const Cell& cell : cells) {
    vantages.insert(cell.vantage);
    windows.insert(cell.window);
    probes.insert(cell.probe);
  }
  std::set<std::string> carriers;
  std::set<int> kinds;
  for (const v1::Vantage& vantage : input.vantages) {
    if (vantages.count(vantage.name()) == 0) continue;
    carriers.insert(vantage.carrier());
    kinds.insert(vantage.kind());
  }
  std::vector<std::string> gaps;
  for (const std::string& name : scope.vantages()) {
    if (vantages.count(name) == 0) gaps.push_back(name);
  }
  for (int kind : scope.vantage_kinds()) {
    if (kinds.count(kind) == 0) {
      gaps.push_back(absl::StrCat("kind:", VantageKindName(static_cast<v1::VantageKind>(kind))));
    }
  }
  for (const std::string& name : scope.carriers()) {
    if (carriers.count(name) == 0) gaps.push_back(absl::StrCat("carrier:", name));
  }
  for (const std::string& name : scope.windows()) {
    if (windows.count(name) == 0) gaps.push_back(absl::StrCat("window:", name));
  }
  for (const std::string& name : scope.probes()) {
    if (probes.count(name) == 0) gaps.push_back(absl::StrCat("probe:", name));
  }
  return gaps;
}

}  // namespace

std::vector<Group> ExpectedGroups(const VerdictInput& input, const v1::Criterion& criterion) {
  const v1::CriterionScope& scope = criterion.where();
  const std::vector<const v1::Vantage*> vantages = InPlanOrder(input);
  std::vector<Cell> cells;
  bool measured = false;
  for (const v1::Probe& probe : input.plan.probes()) {
    if (!Yields(probe, criterion.metric())) continue;
    measured = true;
    if (!Allows(scope.probes(), probe.name())) continue;
    for (const std::string& place : PlacesOf(probe, scope, vantages)) {
      for (const v1::Window& window : input.plan.windows()) {
        if (Allows(probe.windows(), window.name()) && Allows(scope.windows(), window.name())) {
          cells.push_back({place, window.name(), probe.name()});
        }
      }
    }
  }
  if (!measured) return {};

  auto place_rank = [&](const std::string& name) {
    return std::find_if(vantages.begin(), vantages.end(),
                        [&](const v1::Vantage* vantage) { return vantage->name() == name; }) -
           vantages.begin();
  };
  auto window_rank = [&](const std::string& name) {
    const auto& windows = input.plan.windows();
    return std::find_if(windows.begin(), windows.end(),
                        [&](const v1::Window& window) { return window.name() == name; }) -
           windows.begin();
  };
  std::stable_sort(cells.begin(), cells.end(), [&](const Cell& a, const Cell& b) {
    auto key = [&](const Cell& cell) {
      return std::make_pair(cell.vantage.empty() ? -1 : place_rank(cell.vantage),
                            window_rank(cell.window));
    };
    return key(a) < key(b);
  });

  const bool per_vantage = Names(criterion.per(), v1::GROUPING_VANTAGE);
  const bool per_window = Names(criterion.per(), v1::GROUPING_WINDOW);
  std::vector<Group> groups;
  for (const Cell& cell : cells) {
    const std::string vantage = per_vantage ? cell.vantage : "";
    const std::string window = per_window ? cell.window : "";
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.vantage == vantage && group.window == window;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), {vantage, window, {}, ""});
    same->cells.push_back(cell);
  }
  for (const std::string& gap : Gaps(input, scope, cells)) groups.push_back({gap, "", {}, gap});
  return groups;
}

}  // namespace assay::verdict
