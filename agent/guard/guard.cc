#include "agent/guard/guard.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "agent/guard/address.h"
#include "agent/guard/policy.h"
#include "common/base/message.h"
#include "common/files/files.h"

namespace assay::guard {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

struct SpecialBlock {
  const char* prefix;
  const char* refusal;  // message id
};
constexpr SpecialBlock kSpecialBlocks[] = {
    {"0.0.0.0/8", "guard.unspecified"}, {"169.254.0.0/16", "guard.link_local"},
    {"224.0.0.0/4", "guard.multicast"}, {"255.255.255.255/32", "guard.broadcast"},
    {"::/128", "guard.unspecified"},    {"fe80::/10", "guard.link_local"},
    {"ff00::/8", "guard.multicast"},
};

absl::Status Denied(absl::string_view id, MessageArgs args) {
  return Error(absl::StatusCode::kPermissionDenied, id, args);
}

template <typename Matches>
const Rule* FirstMatch(const std::vector<Rule>& rules, const Matches& matches) {
  auto found = std::find_if(rules.begin(), rules.end(), matches);
  return found == rules.end() ? nullptr : &*found;
}

class PolicyGuard : public Guard {
 public:
  explicit PolicyGuard(Policy policy) : policy_(std::move(policy)) {}

  absl::Status CheckHost(absl::string_view written,
                         const std::vector<std::string>& server_addresses) const override {
    std::string host = NormaliseHost(written);
    std::optional<IpAddress> address = ParseIpAddress(host);
    if (address.has_value()) {
      if (absl::Status denied = CheckDenied(written, *address); !denied.ok()) return denied;
    }
    auto names_it = [&host](const Rule& rule) { return rule.MatchesName(host); };
    if (const Rule* rule = FirstMatch(policy_.deny, names_it); rule != nullptr) {
      return DeniedBy(*rule, written);
    }
    if (policy_.allow.has_value()) {
      if (address.has_value()) return CheckAllowed(written, *address);
      auto could_cover = [&](const Rule& rule) { return rule.cidr.has_value() || names_it(rule); };
      if (FirstMatch(*policy_.allow, could_cover) != nullptr) return absl::OkStatus();
      return Denied("guard.not_allowed", {{"host", std::string(written)}, {"file", policy_.file}});
    }
    for (const std::string& server : server_addresses) {
      if (NormaliseHost(server) == host) return absl::OkStatus();
      if (address.has_value() && ParseIpAddress(server) == address) return absl::OkStatus();
    }
    return Denied("guard.not_a_server", {{"host", std::string(written)}});
  }

  absl::Status CheckAddress(absl::string_view written, absl::string_view numeric) const override {
    std::optional<IpAddress> address = ParseIpAddress(numeric);
    if (!address.has_value()) {
      return Denied("guard.not_numeric",
                    {{"host", std::string(written)}, {"address", std::string(numeric)}});
    }
    std::string host = NormaliseHost(written);
    if (absl::Status denied = CheckDenied(written, *address); !denied.ok()) return denied;
    if (absl::Status refused = CheckSpecial(written, *address); !refused.ok()) return refused;
    if (!policy_.allow.has_value()) return absl::OkStatus();
    auto names_it = [&host](const Rule& rule) { return rule.MatchesName(host); };
    if (FirstMatch(*policy_.allow, names_it) != nullptr) return absl::OkStatus();
    return CheckAllowed(written, *address);
  }

  absl::Status CheckProbe(absl::string_view kind) const override {
    if (!policy_.probes.has_value() || policy_.probes->count(std::string(kind)) > 0) {
      return absl::OkStatus();
    }
    return Denied("guard.probe_not_allowed",
                  {{"probe", std::string(kind)}, {"where", policy_.probes_where}});
  }

 private:
  static absl::Status DeniedBy(const Rule& rule, absl::string_view host) {
    return Denied("guard.denied",
                  {{"host", std::string(host)}, {"rule", rule.text}, {"where", rule.where}});
  }

  absl::Status CheckDenied(absl::string_view host, const IpAddress& address) const {
    std::optional<IpAddress> embedded = EmbeddedIpv4(address);
    const Rule* rule = FirstMatch(policy_.deny, [&](const Rule& rule) {
      return rule.MatchesAddress(address) ||
             (embedded.has_value() && rule.MatchesAddress(*embedded));
    });
    if (rule == nullptr) return absl::OkStatus();
    if (ParseIpAddress(host) == address) return DeniedBy(*rule, host);
    return Denied("guard.denied_address", {{"host", std::string(host)},
                                           {"address", ToString(address)},
                                           {"rule", rule->text},
                                           {"where", rule->where}});
  }

  absl::Status CheckAllowed(absl::string_view host, const IpAddress& address) const {
    auto covers = [&address](const Rule& rule) { return rule.MatchesAddress(address); };
    if (FirstMatch(*policy_.allow, covers) != nullptr) return absl::OkStatus();
    if (ParseIpAddress(host) == address) {
      return Denied("guard.not_allowed", {{"host", std::string(host)}, {"file", policy_.file}});
    }
    return Denied(
        "guard.address_not_allowed",
        {{"host", std::string(host)}, {"address", ToString(address)}, {"file", policy_.file}});
  }

  absl::Status CheckSpecial(absl::string_view host, const IpAddress& address) const {
    for (const SpecialBlock& block : kSpecialBlocks) {
      Cidr cidr = ParseCidr(block.prefix).cidr;
      std::optional<IpAddress> embedded = EmbeddedIpv4(address);
      if (!cidr.Contains(address) && !(embedded.has_value() && cidr.Contains(*embedded))) continue;
      if (policy_.allow.has_value()) {
        auto explicitly = [&](const Rule& rule) {
          return rule.MatchesAddress(address) && cidr.Contains(*rule.cidr);
        };
        if (FirstMatch(*policy_.allow, explicitly) != nullptr) return absl::OkStatus();
      } else if (ParseIpAddress(host) == address) {
        return absl::OkStatus();  // CheckHost found it among the plan's servers
      }
      return Denied(
          block.refusal,
          {{"host", std::string(host)}, {"address", ToString(address)}, {"block", block.prefix}});
    }
    return absl::OkStatus();
  }

  const Policy policy_;
};

class DenyingGuard : public Guard {
 public:
  explicit DenyingGuard(const absl::Status& problem)
      : refusal_(ErrorFromMessage(absl::StatusCode::kPermissionDenied,
                                  MessageOf(problem).value_or(v1::Message()))) {}

  absl::Status CheckHost(absl::string_view, const std::vector<std::string>&) const override {
    return refusal_;
  }
  absl::Status CheckAddress(absl::string_view, absl::string_view) const override {
    return refusal_;
  }
  absl::Status CheckProbe(absl::string_view) const override { return refusal_; }

 private:
  const absl::Status refusal_;
};

class OpenGuard : public Guard {
 public:
  absl::Status CheckHost(absl::string_view, const std::vector<std::string>&) const override {
    return absl::OkStatus();
  }
  absl::Status CheckAddress(absl::string_view, absl::string_view) const override {
    return absl::OkStatus();
  }
  absl::Status CheckProbe(absl::string_view) const override { return absl::OkStatus(); }
};

}  // namespace

std::unique_ptr<Guard> LoadGuard(const std::string& path) {
  if (path.empty()) return std::make_unique<PolicyGuard>(Policy());
  absl::StatusOr<std::string> yaml = files::Read(path, kMaxFileBytes);
  if (absl::IsNotFound(yaml.status())) return std::make_unique<PolicyGuard>(Policy());
  if (!yaml.ok()) {
    return std::make_unique<DenyingGuard>(
        Error(absl::StatusCode::kPermissionDenied, "guard.unreadable",
              {{"where", path}, {"detail", std::string(yaml.status().message())}}));
  }
  return ParseGuard(*yaml, path);
}

std::unique_ptr<Guard> ParseGuard(absl::string_view yaml, absl::string_view file_name) {
  absl::StatusOr<Policy> policy = ParsePolicy(yaml, file_name);
  if (!policy.ok()) return std::make_unique<DenyingGuard>(policy.status());
  return std::make_unique<PolicyGuard>(*std::move(policy));
}

std::unique_ptr<Guard> AllowAll() { return std::make_unique<OpenGuard>(); }

}  // namespace assay::guard
