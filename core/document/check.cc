#include "core/document/check.h"

#include <arpa/inet.h>

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/names.h"
#include "common/base/status_macros.h"
#include "core/document/checker.h"
#include "core/document/position.h"
#include "core/document/schema.h"
#include "core/window/civil.h"

namespace assay::document {
namespace {

constexpr size_t kLongestName = 63;
constexpr size_t kLongestHost = 253;

bool IsAddress(const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;  // where inet_pton would stop
  unsigned char bytes[16];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

bool IsLabel(absl::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; });
}

// A list of names of which none may stand twice.
absl::Status CheckNoneTwice(const Checker& checker, const std::string& path,
                            const google::protobuf::RepeatedPtrField<std::string>& texts) {
  std::set<std::string> seen;
  for (int i = 0; i < texts.size(); ++i) {
    if (!seen.insert(texts[i]).second) {
      return checker.Fail(Indexed(path, i), "document.listed_twice", {{"text", texts[i]}});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const Checker& checker, const v1::Plan& plan) {
  ASSAY_RETURN_IF_ERROR(checker.Name("name", plan.name()));
  for (int i = 0; i < plan.servers_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(checker.Name(Indexed("servers", i), plan.servers(i)));
  }
  ASSAY_RETURN_IF_ERROR(CheckNoneTwice(checker, "servers", plan.servers()));
  for (int i = 0; i < plan.vantages_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(checker.Name(Indexed("vantages", i), plan.vantages(i)));
  }
  ASSAY_RETURN_IF_ERROR(CheckNoneTwice(checker, "vantages", plan.vantages()));
  if (!plan.profile().empty()) {
    ASSAY_RETURN_IF_ERROR(checker.Name("profile", plan.profile()));
  }
  ASSAY_RETURN_IF_ERROR(CheckWindows(checker, plan));
  ASSAY_RETURN_IF_ERROR(CheckProbes(checker, plan));
  return CheckCriteria(checker, plan.criteria(), &plan);
}

}  // namespace

bool IsName(absl::string_view text) { return IsValidName(text); }

bool IsHost(absl::string_view text) {
  if (text.empty() || text.size() > kLongestHost) return false;
  if (IsAddress(std::string(text))) return true;
  bool numeric = text.find_first_not_of("0123456789.") == absl::string_view::npos;
  if (numeric) return false;  // an address that isn't one
  std::vector<absl::string_view> labels = absl::StrSplit(text, '.');
  return std::all_of(labels.begin(), labels.end(), IsLabel);
}

std::string KindOf(const v1::Document& document) {
  const auto* field = document.GetReflection()->GetOneofFieldDescriptor(
      document, v1::Document::descriptor()->oneof_decl(0));
  return field == nullptr ? "" : field->name();
}

std::string NameOf(const v1::Document& document) {
  switch (document.kind_case()) {
    case v1::Document::kServer:
      return document.server().name();
    case v1::Document::kVantage:
      return document.vantage().name();
    case v1::Document::kProfile:
      return document.profile().name();
    case v1::Document::kPlan:
      return document.plan().name();
    case v1::Document::KIND_NOT_SET:
      break;
  }
  return "";
}

absl::Status Checker::Fail(const std::string& path, absl::string_view id, MessageArgs args) const {
  args.emplace_back("at", locate_(path));
  args.emplace_back("key", path);
  return Error(absl::StatusCode::kInvalidArgument, id, args);
}

absl::Status Checker::At(const std::string& path, const absl::Status& status) const {
  return status.ok() ? status : Located(status, locate_(path));
}

absl::Status Checker::Name(const std::string& path, const std::string& name) const {
  if (IsName(name)) return absl::OkStatus();
  return Fail(path, "document.bad_name", {{"text", name.substr(0, 60)}});
}

absl::Status Checker::Host(const std::string& path, const std::string& host) const {
  if (IsHost(host)) return absl::OkStatus();
  MessageArgs args = {{"text", host.substr(0, 60)}};
  if (absl::StrContains(host, "://")) return Fail(path, "document.host_is_url", args);
  size_t colon = host.rfind(':');
  absl::string_view bare = absl::string_view(host).substr(0, colon);
  if (absl::StartsWith(bare, "[") && absl::EndsWith(bare, "]")) {
    bare = bare.substr(1, bare.size() - 2);
  }
  if (colon != std::string::npos && IsHost(bare)) {
    args.emplace_back("host", std::string(bare));
    return Fail(path, "document.host_with_port", args);
  }
  return Fail(path, "document.bad_host", args);
}

absl::Status Checker::Range(const std::string& path, uint64_t value, uint64_t least,
                            uint64_t most) const {
  if (value >= least && value <= most) return absl::OkStatus();
  return Fail(path, "document.out_of_range",
              {{"text", absl::StrCat(value)},
               {"least", absl::StrCat(least)},
               {"most", absl::StrCat(most)}});
}

absl::Status Checker::Zone(const std::string& path, const std::string& zone) const {
  return zone.empty() ? absl::OkStatus() : At(path, window::LoadZone(zone).status());
}

absl::Status CheckServer(const Checker& checker, const v1::Server& server) {
  ASSAY_RETURN_IF_ERROR(checker.Name("name", server.name()));
  for (int i = 0; i < server.addresses_size(); ++i) {
    ASSAY_RETURN_IF_ERROR(checker.Host(Indexed("addresses", i), server.addresses(i)));
  }
  ASSAY_RETURN_IF_ERROR(CheckNoneTwice(checker, "addresses", server.addresses()));
  return checker.Zone("time_zone", server.time_zone());
}

absl::Status CheckVantage(const Checker& checker, const v1::Vantage& vantage) {
  ASSAY_RETURN_IF_ERROR(checker.Name("name", vantage.name()));
  if (absl::AsciiStrToLower(vantage.carrier()) != vantage.carrier() ||
      (!vantage.carrier().empty() && !IsName(vantage.carrier()))) {
    return checker.Fail("carrier", "document.bad_carrier",
                        {{"text", vantage.carrier().substr(0, 60)}});
  }
  return checker.Zone("time_zone", vantage.time_zone());
}

absl::Status Check(const v1::Document& document, const Locate& locate) {
  const Checker checker(locate);
  if (document.kind_case() == v1::Document::KIND_NOT_SET) {
    return checker.Fail("", "document.empty");
  }
  const auto& reflection = *document.GetReflection();
  const auto* field =
      reflection.GetOneofFieldDescriptor(document, v1::Document::descriptor()->oneof_decl(0));
  ASSAY_RETURN_IF_ERROR(CheckSchema(checker, reflection.GetMessage(document, field), ""));
  switch (document.kind_case()) {
    case v1::Document::kServer:
      return CheckServer(checker, document.server());
    case v1::Document::kVantage:
      return CheckVantage(checker, document.vantage());
    case v1::Document::kProfile:
      ASSAY_RETURN_IF_ERROR(checker.Name("name", document.profile().name()));
      return CheckCriteria(checker, document.profile().criteria(), nullptr);
    case v1::Document::kPlan:
      return CheckPlan(checker, document.plan());
    case v1::Document::KIND_NOT_SET:
      break;
  }
  return absl::OkStatus();
}

absl::Status Check(const v1::Document& document) {
  std::string what = absl::StrCat(KindOf(document), " ", NameOf(document).substr(0, kLongestName));
  return Check(document, [&](const std::string& path) {
    return path.empty() ? absl::StrCat(what, ": ") : absl::StrCat(what, ", ", path, ": ");
  });
}

absl::Status CheckAgainstPlan(const v1::Profile& profile, const v1::Plan& plan) {
  Locate locate = [&](const std::string& path) {
    return absl::StrCat("plan ", plan.name(), ", profile ", profile.name(), ", ", path, ": ");
  };
  return CheckCriteria(Checker(locate), profile.criteria(), &plan);
}

}  // namespace assay::document
