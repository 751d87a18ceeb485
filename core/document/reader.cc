#include "core/document/reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "core/document/check.h"
#include "core/document/fill.h"
#include "core/document/nearest.h"
#include "core/document/schema.h"
#include "core/document/yaml.h"

namespace assay::document {
namespace {

constexpr char kKindKey[] = "kind";

const YamlEntry* FindKind(const YamlNode& node) {
  for (const YamlEntry& entry : node.entries) {
    if (entry.key == kKindKey) return &entry;
  }
  return nullptr;
}

absl::StatusOr<ReadDocument> ReadOne(const YamlNode& node, absl::string_view file_name) {
  const google::protobuf::Descriptor& kinds = *v1::Document::descriptor();
  std::vector<std::string> words;
  words.reserve(kinds.field_count());
  for (int i = 0; i < kinds.field_count(); ++i) words.push_back(kinds.field(i)->name());
  const std::string known = absl::StrJoin(words, ", ");
  const YamlEntry* kind = node.kind == YamlNode::Kind::kMap ? FindKind(node) : nullptr;
  if (kind == nullptr) {
    return ErrorAt(file_name, node.position, "document.no_kind", {{"known", known}});
  }
  const google::protobuf::FieldDescriptor* field = nullptr;
  if (kind->value->kind == YamlNode::Kind::kScalar) {
    field = kinds.FindFieldByName(kind->value->text);
  }
  if (field == nullptr) {
    std::string nearest = Nearest(kind->value->text, words);
    return ErrorAt(
        file_name, kind->value->position,
        nearest.empty() ? "document.unknown_kind_of" : "document.unknown_kind",
        {{"text", kind->value->text.substr(0, 60)}, {"nearest", nearest}, {"known", known}});
  }

  ReadDocument read;
  read.positions[""] = node.position;
  google::protobuf::Message* message =
      read.document.GetReflection()->MutableMessage(&read.document, field);
  ASSAY_RETURN_IF_ERROR(Fill(node, file_name, kKindKey, message, &read.positions));

  // The nearest place that was written: of a key that is missing, what it is missing from.
  Locate locate = [&](const std::string& path) {
    std::string known_path = path;
    auto found = read.positions.find(known_path);
    while (found == read.positions.end()) {
      size_t end = known_path.find_last_of(".[");
      known_path.resize(end == std::string::npos ? 0 : end);
      found = read.positions.find(known_path);
    }
    return AtText(file_name, found->second);
  };
  ASSAY_RETURN_IF_ERROR(Check(read.document, locate));
  return read;
}

}  // namespace

absl::StatusOr<std::vector<ReadDocument>> ReadDocuments(absl::string_view text,
                                                        absl::string_view file_name) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<YamlPtr> nodes, ParseYaml(text, file_name));
  if (nodes.empty()) return ErrorAt(file_name, {1, 1}, "document.empty");
  std::vector<ReadDocument> documents;
  std::map<std::pair<std::string, std::string>, int> lines;  // of kinds and names
  for (const YamlPtr& node : nodes) {
    ASSAY_ASSIGN_OR_RETURN(ReadDocument read, ReadOne(*node, file_name));
    std::string kind = KindOf(read.document);
    std::string name = NameOf(read.document);
    Position position = read.positions["name"];
    auto [first, is_new] = lines.emplace(std::make_pair(kind, name), position.line);
    if (!is_new) {
      return ErrorAt(file_name, position, "document.duplicate_document",
                     {{"kind", kind}, {"name", name}, {"first", absl::StrCat(first->second)}});
    }
    documents.push_back(std::move(read));
  }
  return documents;
}

}  // namespace assay::document
