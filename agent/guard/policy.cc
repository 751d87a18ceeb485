#include "agent/guard/policy.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "assay/v1/model.pb.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "core/document/yaml.h"

namespace assay::guard {
namespace {

absl::Status Broken(absl::string_view id, const std::string& where, MessageArgs args = {}) {
  args.emplace_back("where", where);
  return Error(absl::StatusCode::kFailedPrecondition, id, args);
}

// `error` is the document reader's: its sentence begins with "file:line:column: ".
absl::Status Unreadable(const std::string& file, const absl::Status& error) {
  std::string where = absl::StrCat(file, ":1");
  absl::string_view detail = error.message();
  std::optional<v1::Message> message = MessageOf(error);
  if (message.has_value() && message->args().count("at") > 0) {
    absl::string_view at = message->args().at("at");
    absl::ConsumePrefix(&detail, at);
    absl::ConsumeSuffix(&at, ": ");
    where = std::string(at.substr(0, at.rfind(':')));
  }
  return Broken("guard.syntax", where, {{"detail", std::string(detail)}});
}

// Kinds of probes, from the contract, so that a new probe needs no line here.
std::vector<std::string> ProbeKinds() {
  const google::protobuf::OneofDescriptor* kind = v1::Probe::descriptor()->FindOneofByName("kind");
  std::vector<std::string> names;
  for (int i = 0; i < kind->field_count(); ++i) names.push_back(kind->field(i)->name());
  return names;
}

// A host name of letters, digits, '-' and '_'. One whose last label is all digits would be taken
// for an address by the resolver, and is most often a mistyped address.
bool IsHostName(absl::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  std::vector<absl::string_view> labels = absl::StrSplit(name, '.');
  for (absl::string_view label : labels) {
    if (label.empty() || label.size() > 63) return false;
    if (!std::all_of(label.begin(), label.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; })) {
      return false;
    }
  }
  return !std::all_of(labels.back().begin(), labels.back().end(), absl::ascii_isdigit);
}

class PolicyReader {
 public:
  explicit PolicyReader(absl::string_view file_name) { policy_.file = std::string(file_name); }

  absl::StatusOr<Policy> Read(const YAML::Node& root) {
    if (root.IsNull()) return policy_;
    ASSAY_RETURN_IF_ERROR(CheckMap(root, Where(root), "agent.yaml", {"targets", "probes"}));
    for (const auto& item : root) {
      if (item.first.Scalar() == "targets") {
        ASSAY_RETURN_IF_ERROR(ReadTargets(item.second, Where(item.first)));
      } else {
        ASSAY_RETURN_IF_ERROR(ReadProbes(item.second, Where(item.first)));
      }
    }
    return std::move(policy_);
  }

 private:
  std::string Where(const YAML::Node& node) const {
    return absl::StrCat(policy_.file, ":", node.Mark().line + 1);
  }

  // A map whose keys are all known and unique. `where` is its key's place: a missing value has
  // none.
  absl::Status CheckMap(const YAML::Node& node, const std::string& where, const char* name,
                        const std::vector<std::string>& known) const {
    if (!node.IsMap()) return Broken("guard.not_a_map", where, {{"key", name}});
    std::set<std::string> seen;
    for (const auto& item : node) {
      if (!item.first.IsScalar()) return Broken("guard.not_a_map", Where(node), {{"key", name}});
      const std::string& key = item.first.Scalar();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return Broken("guard.unknown_key", Where(item.first),
                      {{"key", key}, {"known", absl::StrJoin(known, ", ")}});
      }
      if (!seen.insert(key).second) {
        return Broken("guard.duplicate_key", Where(item.first), {{"key", key}});
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckList(const YAML::Node& node, const std::string& where, const char* name) const {
    if (!node.IsSequence()) return Broken("guard.not_a_list", where, {{"key", name}});
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) return Broken("guard.not_a_text", Where(item), {{"key", name}});
    }
    return absl::OkStatus();
  }

  absl::Status ReadTargets(const YAML::Node& node, const std::string& where) {
    ASSAY_RETURN_IF_ERROR(CheckMap(node, where, "targets", {"allow", "deny"}));
    for (const auto& item : node) {
      bool allow = item.first.Scalar() == "allow";
      ASSAY_RETURN_IF_ERROR(
          CheckList(item.second, Where(item.first), allow ? "targets.allow" : "targets.deny"));
      std::vector<Rule>& rules = allow ? policy_.allow.emplace() : policy_.deny;
      for (const YAML::Node& entry : item.second) {
        ASSAY_ASSIGN_OR_RETURN(Rule rule, ReadRule(entry));
        rules.push_back(std::move(rule));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Rule> ReadRule(const YAML::Node& node) const {
    Rule rule;
    rule.text = node.Scalar();
    rule.where = Where(node);
    ParsedCidr parsed = ParseCidr(rule.text);
    if (parsed.problem == CidrProblem::kNone) {
      rule.cidr = parsed.cidr;
      return rule;
    }
    if (parsed.problem == CidrProblem::kHostBits) {
      return Broken("guard.host_bits", rule.where,
                    {{"value", rule.text}, {"correct", ToString(parsed.cidr)}});
    }
    if (absl::StrContains(rule.text, '/') || absl::StrContains(rule.text, ':')) {
      return Broken("guard.bad_cidr", rule.where, {{"value", rule.text}});
    }
    rule.name = NormaliseHost(rule.text);
    absl::string_view name = rule.name;
    rule.subdomains = absl::ConsumePrefix(&name, "*.");
    if (!IsHostName(name)) return Broken("guard.bad_pattern", rule.where, {{"value", rule.text}});
    rule.name = std::string(name);
    return rule;
  }

  absl::Status ReadProbes(const YAML::Node& node, const std::string& where) {
    ASSAY_RETURN_IF_ERROR(CheckList(node, where, "probes"));
    const std::vector<std::string> kinds = ProbeKinds();
    policy_.probes.emplace();
    policy_.probes_where = where;
    for (const YAML::Node& entry : node) {
      if (std::find(kinds.begin(), kinds.end(), entry.Scalar()) == kinds.end()) {
        return Broken("guard.unknown_probe", Where(entry),
                      {{"value", entry.Scalar()}, {"known", absl::StrJoin(kinds, ", ")}});
      }
      policy_.probes->insert(entry.Scalar());
    }
    return absl::OkStatus();
  }

  Policy policy_;
};

}  // namespace

bool Rule::MatchesName(absl::string_view host) const {
  if (name.empty()) return false;
  if (!subdomains) return host == name;
  return host.size() > name.size() + 1 && absl::EndsWith(host, name) &&
         host[host.size() - name.size() - 1] == '.';
}

bool Rule::MatchesAddress(const IpAddress& address) const {
  return cidr.has_value() && cidr->Contains(address);
}

std::string NormaliseHost(absl::string_view host) {
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  }
  if (host.size() > 1) host = absl::StripSuffix(host, ".");
  return absl::AsciiStrToLower(host);
}

absl::StatusOr<Policy> ParsePolicy(absl::string_view yaml, absl::string_view file_name) {
  std::string file(file_name);
  // yaml-cpp never returns from some malformed texts; the document reader knows them.
  absl::Status readable = document::ParseYaml(yaml, file_name).status();
  if (!readable.ok()) return Unreadable(file, readable);
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(std::string(yaml));
    if (documents.size() > 1) {
      return Broken("guard.many_documents", absl::StrCat(file, ":", documents[1].Mark().line + 1));
    }
    return PolicyReader(file).Read(documents.empty() ? YAML::Node() : documents[0]);
  } catch (const YAML::Exception& e) {
    return Broken("guard.syntax", absl::StrCat(file, ":", std::max(e.mark.line, 0) + 1),
                  {{"detail", e.msg}});
  } catch (const std::exception& e) {  // yaml-cpp lets the standard library's out, too
    return Broken("guard.syntax", absl::StrCat(file, ":1"), {{"detail", e.what()}});
  }
}

}  // namespace assay::guard
