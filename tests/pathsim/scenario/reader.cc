#include "tests/pathsim/scenario/reader.h"

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/status_macros.h"
#include "core/document/yaml.h"
#include "tests/pathsim/scenario/fields.h"
#include "tests/pathsim/scenario/link_reader.h"

namespace assay::pathsim {
namespace {

using document::YamlNode;
using document::YamlPtr;

constexpr size_t kMostRouters = 1000;
constexpr size_t kMostHops = 255;  // a TTL reaches no further

class ScenarioReader {
 public:
  explicit ScenarioReader(Reading& reading) : reading_(reading) {}

  Scenario Read(const YamlNode& root) {
    Fields fields(root, "a scenario", reading_);
    fields.ReadInteger("seed", 0, UINT64_MAX, scenario_.seed);
    ReadHost(root, fields.Take("near"), "near", scenario_.near);
    ReadHost(root, fields.Take("far"), "far", scenario_.far);
    if (const YamlNode* hops = fields.Take("hops")) scenario_.hops = ReadRoute(*hops);
    if (const YamlNode* hops = fields.Take("return_hops")) {
      scenario_.return_hops = ReadRoute(*hops, /*reversed=*/true);
    }
    if (const YamlNode* changes = fields.Take("changes")) {
      ForEachItem(*changes, [&](const YamlNode& item) { ReadChange(item); });
    }
    CheckReturnVia(root);
    return std::move(scenario_);
  }

 private:
  void ReadHost(const YamlNode& root, const YamlNode* node, absl::string_view key,
                HostSettings& host) {
    if (node == nullptr) return reading_.Fail(root, absl::StrCat("'", key, "' is missing"));
    Fields fields(*node, key, reading_);
    if (const YamlNode* addresses = fields.Take("addresses")) {
      ForEachItem(*addresses, [&](const YamlNode& item) { ReadHostAddress(item, host); });
    }
    if (host.addresses.empty()) reading_.Fail(*node, absl::StrCat("'", key, "' has no addresses"));
    fields.ReadInteger("mtu", 68, 65535, host.mtu);
    if (&host == &scenario_.near) return;
    if (const YamlNode* link = fields.Take("forward")) {
      ReadLink(*link, scenario_.far_forward, reading_);
    }
    if (const YamlNode* link = fields.Take("reverse")) {
      ReadLink(*link, scenario_.far_reverse, reading_);
    }
  }

  void ReadHostAddress(const YamlNode& node, HostSettings& host) {
    std::vector<std::string> parts = absl::StrSplit(node.text, absl::MaxSplits('/', 1));
    absl::StatusOr<Address> address = ParseAddress(parts[0]);
    if (!address.ok()) return reading_.Fail(node, address.status().message());
    int longest = address->version == 4 ? 32 : 128;
    int prefix = longest;
    bool good = parts.size() == 1 ||
                (absl::SimpleAtoi(parts[1], &prefix) && prefix >= 8 && prefix <= longest);
    if (!good) return reading_.Fail(node, absl::StrCat("a prefix is from 8 to ", longest));
    if (!IsOneHost(*address)) return reading_.Fail(node, "not the address of one host");
    host.addresses.push_back({*address, prefix});
  }

  // `reversed`: written from right to left.
  Route ReadRoute(const YamlNode& node, bool reversed = false) {
    Route route;
    size_t longest = 0;
    if (node.kind == YamlNode::Kind::kScalar) reading_.Fail(node, "hops are a list");
    ForEachItem(node, [&](const YamlNode& item) {
      // Null is a list left empty.
      if (item.kind == YamlNode::Kind::kNull) return;
      Segment segment = ReadSegment(item);
      size_t most = 0;
      for (std::vector<int>& branch : segment.branches) {
        most = std::max(most, branch.size());
        if (reversed) branch = {branch.rbegin(), branch.rend()};
      }
      longest += most;
      route.push_back(std::move(segment));
    });
    if (longest > kMostHops) {
      reading_.Fail(node, absl::StrCat("at most ", kMostHops, " hops"));
      route.clear();
    }
    if (reversed) route = {route.rbegin(), route.rend()};
    return route;
  }

  Segment ReadSegment(const YamlNode& node) {
    Segment segment;
    bool equal_cost = false;
    for (const document::YamlEntry& entry : node.entries) {
      equal_cost = equal_cost || entry.key == "equal_cost";
    }
    if (!equal_cost) {
      segment.branches = {{ReadRouter(node)}};
      return segment;
    }
    Fields fields(node, "equal-cost branches", reading_);
    std::string by = "flow";
    fields.Read("by", by);
    segment.by = by == "packet"      ? SpreadBy::kPacket
                 : by == "addresses" ? SpreadBy::kAddresses
                                     : SpreadBy::kFlow;
    if (by != "flow" && by != "packet" && by != "addresses") {
      reading_.Fail(node, "'by' is flow, addresses or packet");
    }
    ForEachItem(*fields.Take("equal_cost"), [&](const YamlNode& branch) {
      std::vector<int> routers;
      ForEachItem(branch, [&](const YamlNode& hop) { routers.push_back(ReadRouter(hop)); });
      if (routers.empty()) reading_.Fail(branch, "a branch has at least one hop");
      segment.branches.push_back(std::move(routers));
    });
    if (segment.branches.empty() || segment.branches.size() > 64) {
      reading_.Fail(node, "from 1 to 64 branches");
    }
    return segment;
  }

  // A new router, or the name of one that stands further up.
  int ReadRouter(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kScalar) {
      auto known = names_.find(node.text);
      if (known != names_.end()) return known->second;
      reading_.Fail(node, absl::StrCat("no hop named '", node.text, "' stands above"));
      return 0;
    }
    int index = static_cast<int>(scenario_.routers.size());
    RouterSettings router;
    router.name = absl::StrCat("hop", index + 1);
    Fields fields(node, "a hop", reading_);
    fields.Read("name", router.name);
    ReadRouterAddresses(fields.Take("v4"), 4, router.v4);
    ReadRouterAddresses(fields.Take("v6"), 6, router.v6);
    fields.Read("hidden", router.hidden);
    fields.Read("return_via", router.return_via);
    if (const YamlNode* link = fields.Take("forward")) ReadLink(*link, router.forward, reading_);
    if (const YamlNode* link = fields.Take("reverse")) ReadLink(*link, router.reverse, reading_);
    if (const YamlNode* icmp = fields.Take("icmp")) ReadAnswers(*icmp, router.answers, reading_);
    if (!names_.emplace(router.name, index).second || router.name == "near" ||
        router.name == "far") {
      reading_.Fail(node, absl::StrCat("the name '", router.name, "' is taken"));
    }
    if (scenario_.routers.size() == kMostRouters) {
      reading_.Fail(node, absl::StrCat("at most ", kMostRouters, " routers"));
      return 0;
    }
    if (!router.return_via.empty()) return_via_.insert(router.return_via);
    scenario_.routers.push_back(std::move(router));
    return index;
  }

  void ReadRouterAddresses(const YamlNode* node, int version, std::vector<Address>& to) {
    if (node == nullptr) return;
    ForEachItem(*node, [&](const YamlNode& item) {
      absl::StatusOr<Address> address = ParseAddress(item.text);
      if (!address.ok()) return reading_.Fail(item, address.status().message());
      if (address->version != version) {
        return reading_.Fail(item, absl::StrCat("'", item.text, "' is not IPv", version));
      }
      to.push_back(*address);
    });
  }

  void ReadChange(const YamlNode& node) {
    RouteChange change;
    Fields fields(node, "a change", reading_);
    if (fields.Take("at") != nullptr) fields.Read("at", change.at.emplace());
    if (fields.Take("after_packets") != nullptr) {
      fields.ReadInteger("after_packets", 1, UINT64_MAX, change.after_packets.emplace());
    }
    if (change.at.has_value() == change.after_packets.has_value()) {
      reading_.Fail(node, "write one of at and after_packets");
    }
    if (const YamlNode* hops = fields.Take("hops")) change.hops = ReadRoute(*hops);
    if (const YamlNode* hops = fields.Take("return_hops")) {
      change.return_hops = ReadRoute(*hops, /*reversed=*/true);
    }
    if (!change.hops && !change.return_hops) {
      reading_.Fail(node, "a change has hops, return_hops or both");
    }
    scenario_.changes.push_back(std::move(change));
  }

  void CheckReturnVia(const YamlNode& root) {
    std::set<std::string> on_return;
    auto add = [&](const std::optional<Route>& route) {
      if (!route) return;
      for (const Segment& segment : *route) {
        for (const std::vector<int>& branch : segment.branches) {
          for (int router : branch) {
            if (reading_.ok()) on_return.insert(scenario_.routers[router].name);
          }
        }
      }
    };
    add(scenario_.return_hops);
    for (const RouteChange& change : scenario_.changes) add(change.return_hops);
    for (const std::string& name : return_via_) {
      if (!on_return.contains(name)) {
        reading_.Fail(root, absl::StrCat("return_via: '", name, "' is on no return_hops"));
      }
    }
  }

  Reading& reading_;
  Scenario scenario_;
  std::map<std::string, int> names_;
  std::set<std::string> return_via_;
};

}  // namespace

absl::StatusOr<Scenario> ReadScenario(absl::string_view yaml, absl::string_view file_name) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<YamlPtr> documents, document::ParseYaml(yaml, file_name));
  if (documents.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ": a scenario is one document, these are ", documents.size()));
  }
  Reading reading{std::string(file_name), absl::OkStatus()};
  Scenario scenario = ScenarioReader(reading).Read(*documents[0]);
  if (!reading.ok()) return reading.status;
  return scenario;
}

absl::StatusOr<Scenario> ReadScenarioFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read the scenario ", path));
  return ReadScenario(text.str(), path);
}

}  // namespace assay::pathsim
