#include "server/store/documents.h"

#include <string>
#include <utility>

#include "common/base/message.h"

namespace assay::store::documents {
namespace {

// Kind and name; both empty for a document of no kind.
std::pair<absl::string_view, absl::string_view> KeyOf(const v1::Document& document) {
  switch (document.kind_case()) {
    case v1::Document::kServer:
      return {"server", document.server().name()};
    case v1::Document::kVantage:
      return {"vantage", document.vantage().name()};
    case v1::Document::kProfile:
      return {"profile", document.profile().name()};
    case v1::Document::kPlan:
      return {"plan", document.plan().name()};
    case v1::Document::KIND_NOT_SET:
      break;
  }
  return {};
}

}  // namespace

absl::Status Put(Connection& db, const std::vector<v1::Document>& documents) {
  for (const v1::Document& document : documents) {
    auto [kind, name] = KeyOf(document);
    if (kind.empty()) return absl::InvalidArgumentError("a document of no kind");
    ASSAY_RETURN_IF_ERROR(
        db.Run("INSERT INTO documents (kind, name, document) VALUES (?1, ?2, ?3) "
               "ON CONFLICT (kind, name) DO UPDATE SET document = excluded.document",
               kind, name, Blob{document.SerializeAsString()}));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Document> Get(Connection& db, absl::string_view kind, absl::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement found,
      db.Query("SELECT document FROM documents WHERE kind = ?1 AND name = ?2", kind, name));
  ASSAY_ASSIGN_OR_RETURN(bool row, found.Next());
  if (!row) {
    return Error(absl::StatusCode::kNotFound, "server.unknown_document",
                 {{"kind", std::string(kind)}, {"name", std::string(name)}});
  }
  v1::Document document;
  ASSAY_RETURN_IF_ERROR(found.TakeMessage(document));
  return document;
}

absl::StatusOr<std::vector<v1::Document>> List(Connection& db, absl::string_view kind) {
  std::vector<v1::Document> documents;
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      db.Query("SELECT document FROM documents WHERE kind = ?1 ORDER BY name", kind));
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(bool row, rows.Next());
    if (!row) return documents;
    ASSAY_RETURN_IF_ERROR(rows.TakeMessage(documents.emplace_back()));
  }
}

}  // namespace assay::store::documents
