#include "server/dispatch/document_book.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "core/document/changes.h"
#include "core/document/check.h"

namespace assay::dispatch {
namespace {

const google::protobuf::Message* BodyOf(const v1::Document& document) {
  switch (document.kind_case()) {
    case v1::Document::kServer:
      return &document.server();
    case v1::Document::kVantage:
      return &document.vantage();
    case v1::Document::kProfile:
      return &document.profile();
    case v1::Document::kPlan:
      return &document.plan();
    default:
      return nullptr;
  }
}

// What a plan names must exist, and its profile must fit it.
absl::Status CheckReferences(store::Store& store, const v1::Plan& plan,
                             const v1::ApplyRequest& request, const std::set<std::string>& coming) {
  auto check = [&](const std::string& kind, const std::string& name) -> absl::Status {
    if (coming.count(absl::StrCat(kind, "/", name)) > 0) return absl::OkStatus();
    absl::Status status = store.GetDocument(kind, name).status();
    if (!absl::IsNotFound(status)) return status;
    return Error(absl::StatusCode::kNotFound, "server.plan_names_unknown",
                 {{"plan", plan.name()}, {"kind", kind}, {"name", name}});
  };
  for (const std::string& server : plan.servers()) ASSAY_RETURN_IF_ERROR(check("server", server));
  for (const std::string& vantage : plan.vantages()) {
    ASSAY_RETURN_IF_ERROR(check("vantage", vantage));
  }
  if (plan.profile().empty()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(check("profile", plan.profile()));
  for (const v1::Document& document : request.documents()) {
    if (document.has_profile() && document.profile().name() == plan.profile()) {
      return document::CheckAgainstPlan(document.profile(), plan);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(v1::Document profile, store.GetDocument("profile", plan.profile()));
  return document::CheckAgainstPlan(profile.profile(), plan);
}

}  // namespace

absl::StatusOr<v1::ApplyResponse> Apply(store::Store& store, const v1::ApplyRequest& request) {
  std::set<std::string> coming;
  for (const v1::Document& document : request.documents()) {
    // The command line has checked its files; another tool may not have.
    ASSAY_RETURN_IF_ERROR(document::Check(document));
    std::string kind = document::KindOf(document);
    std::string name = document::NameOf(document);
    if (!coming.insert(absl::StrCat(kind, "/", name)).second) {
      return Error(absl::StatusCode::kInvalidArgument, "server.document_twice",
                   {{"kind", kind}, {"name", name}});
    }
  }
  v1::ApplyResponse response;
  std::vector<v1::Document> changed;
  for (const v1::Document& document : request.documents()) {
    if (document.has_plan()) {
      ASSAY_RETURN_IF_ERROR(CheckReferences(store, document.plan(), request, coming));
    }
    v1::AppliedDocument& applied = *response.add_documents();
    applied.set_kind(document::KindOf(document));
    applied.set_name(document::NameOf(document));
    absl::StatusOr<v1::Document> before = store.GetDocument(applied.kind(), applied.name());
    if (absl::IsNotFound(before.status())) {
      applied.set_action(v1::APPLY_ACTION_CREATED);
      changed.push_back(document);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(before.status());
    for (std::string& line : document::DescribeChanges(*BodyOf(*before), *BodyOf(document))) {
      applied.add_changes(std::move(line));
    }
    applied.set_action(applied.changes().empty() ? v1::APPLY_ACTION_UNCHANGED
                                                 : v1::APPLY_ACTION_UPDATED);
    if (!applied.changes().empty()) changed.push_back(document);
  }
  if (!request.dry_run() && !changed.empty()) ASSAY_RETURN_IF_ERROR(store.PutDocuments(changed));
  return response;
}

}  // namespace assay::dispatch
