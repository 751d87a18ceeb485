#include "common/base/message.h"

#include <map>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/messages/areas.h"

namespace assay {
namespace {

constexpr char kPayloadUrl[] = "assay.v1.Message";

const CatalogueEntry* FindEntry(absl::string_view id) {
  static const auto* index = [] {
    auto* map = new std::map<absl::string_view, const CatalogueEntry*>;
    for (const CatalogueEntry& entry : Catalogue()) map->emplace(entry.id, &entry);
    return map;
  }();
  auto found = index->find(id);
  return found == index->end() ? nullptr : found->second;
}

std::string Fill(absl::string_view pattern, const v1::Message& message) {
  std::string text;
  while (!pattern.empty()) {
    size_t open = pattern.find('{');
    absl::StrAppend(&text, pattern.substr(0, open));
    if (open == absl::string_view::npos) break;
    size_t close = pattern.find('}', open);
    if (close == absl::string_view::npos) {
      absl::StrAppend(&text, pattern.substr(open));
      break;
    }
    std::string name(pattern.substr(open + 1, close - open - 1));
    auto value = message.args().find(name);
    absl::StrAppend(&text,
                    value == message.args().end() ? absl::StrCat("{", name, "}") : value->second);
    pattern.remove_prefix(close + 1);
  }
  return text;
}

}  // namespace

Language ParseLanguage(absl::string_view name) {
  return absl::StartsWithIgnoreCase(name, "zh") ? Language::kChinese : Language::kEnglish;
}

const std::vector<CatalogueEntry>& Catalogue() {
  static const auto* all = [] {
    auto* entries = new std::vector<CatalogueEntry>;
    for (absl::Span<const CatalogueEntry> area : messages::Areas()) {
      entries->insert(entries->end(), area.begin(), area.end());
    }
    return entries;
  }();
  return *all;
}

v1::Message MakeMessage(absl::string_view id, const MessageArgs& args) {
  v1::Message message;
  message.set_id(std::string(id));
  for (const auto& [name, value] : args) (*message.mutable_args())[name] = value;
  return message;
}

std::string Render(Language language, const v1::Message& message) {
  const CatalogueEntry* entry = FindEntry(message.id());
  if (entry != nullptr) {
    return Fill(language == Language::kChinese ? entry->chinese : entry->english, message);
  }
  std::string text = message.id();
  std::map<std::string, std::string> sorted(message.args().begin(), message.args().end());
  for (const auto& [name, value] : sorted) absl::StrAppend(&text, " ", name, "=", value);
  return text;
}

std::string Text(Language language, absl::string_view id, const MessageArgs& args) {
  return Render(language, MakeMessage(id, args));
}

absl::Status Error(absl::StatusCode code, absl::string_view id, const MessageArgs& args) {
  return ErrorFromMessage(code, MakeMessage(id, args));
}

absl::Status ErrorFromMessage(absl::StatusCode code, const v1::Message& message) {
  absl::Status status(code, Render(Language::kEnglish, message));
  status.SetPayload(kPayloadUrl, absl::Cord(message.SerializeAsString()));
  return status;
}

std::optional<v1::Message> MessageOf(const absl::Status& status) {
  auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  v1::Message message;
  if (!message.ParseFromString(std::string(*payload))) return std::nullopt;
  return message;
}

std::string Render(Language language, const absl::Status& status) {
  if (status.ok()) return "";
  std::optional<v1::Message> message = MessageOf(status);
  return message.has_value() ? Render(language, *message) : std::string(status.message());
}

}  // namespace assay
