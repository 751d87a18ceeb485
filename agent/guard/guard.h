// The host owner's last word: what this agent may be made to do, whatever a plan says.
//
// The configuration (agent.yaml) is optional; a file that is there and cannot be read or understood
// denies everything.
//
//   targets:
//     allow: ["203.0.113.0/24", "*.example.com"]   # absent: only the plan's servers
//     deny: ["10.0.0.0/8"]                          # always wins
//   probes: [icmp, tcp, http]                       # absent: all
//
// What a rule says
// - A prefix covers addresses of its own family; an IPv4-mapped IPv6 address is the IPv4 address. A
//   NAT64 address (64:ff9b::/96) is denied where the IPv4 address inside it is.
// - "example.com" is that name, "*.example.com" every name below it and not itself. Case and a
//   trailing dot don't matter.
// - With `allow`, the list is complete: a plan's server must be covered as well. A name that no
// name
//   rule covers is decided by the addresses it resolves to, where the list has prefixes.
// - Never a legitimate target: unspecified (0.0.0.0/8, ::), link-local (169.254.0.0/16, where
// clouds
//   keep credentials; fe80::/10), multicast (224.0.0.0/4, ff00::/8) and the broadcast address. They
//   are refused unless an allow rule lies wholly inside that block ("0.0.0.0/0" does not count), or
//   without `allow` the plan's server is written as that very address.
// - Loopback and private addresses are ordinary targets: deny them where the host needs it.
#ifndef ASSAY_AGENT_GUARD_GUARD_H_
#define ASSAY_AGENT_GUARD_GUARD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace assay::guard {

// Immutable and thread-safe.
class Guard {
 public:
  virtual ~Guard() = default;
  // OK, or PERMISSION_DENIED that names the rule. `host` is as written in the plan: a name or an
  // address. `server_addresses` is what the plan's servers cover.
  virtual absl::Status CheckHost(absl::string_view host,
                                 const std::vector<std::string>& server_addresses) const = 0;
  // The same for a resolved numeric address of a host that CheckHost allowed: only deny rules and
  // address rules count. To be asked for every address, also when `host` is one.
  virtual absl::Status CheckAddress(absl::string_view host, absl::string_view address) const = 0;
  virtual absl::Status CheckProbe(absl::string_view kind) const = 0;
};

// `path` empty or missing file: the default policy. Broken file: a guard that denies everything,
// and whose every refusal says what is wrong with the file.
std::unique_ptr<Guard> LoadGuard(const std::string& path);
std::unique_ptr<Guard> ParseGuard(absl::string_view yaml, absl::string_view file_name);
// Allows everything: for a probe that a person runs by hand.
std::unique_ptr<Guard> AllowAll();

}  // namespace assay::guard

#endif  // ASSAY_AGENT_GUARD_GUARD_H_
