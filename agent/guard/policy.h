// What agent.yaml says, read strictly: anything not understood is an error.
#ifndef ASSAY_AGENT_GUARD_POLICY_H_
#define ASSAY_AGENT_GUARD_POLICY_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/guard/address.h"

namespace assay::guard {

// One entry of targets.allow or targets.deny: a prefix, or a name pattern.
struct Rule {
  std::string text;   // as written
  std::string where;  // "agent.yaml:3"
  std::optional<Cidr> cidr;
  std::string name;         // lower case, without "*."; empty for a prefix
  bool subdomains = false;  // "*.": names below `name`, at any depth, and not `name` itself

  // `host` in the form that NormaliseHost gives.
  bool MatchesName(absl::string_view host) const;
  bool MatchesAddress(const IpAddress& address) const;
};

struct Policy {
  std::string file;
  std::optional<std::vector<Rule>> allow;
  std::vector<Rule> deny;
  std::optional<std::set<std::string>> probes;
  std::string probes_where;
};

// Lower case, without brackets and without the root's trailing dot.
std::string NormaliseHost(absl::string_view host);

// FAILED_PRECONDITION with the position and the problem. An empty document is an empty policy.
absl::StatusOr<Policy> ParsePolicy(absl::string_view yaml, absl::string_view file_name);

}  // namespace assay::guard

#endif  // ASSAY_AGENT_GUARD_POLICY_H_
