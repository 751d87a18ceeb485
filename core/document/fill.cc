#include "core/document/fill.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/proto_time.h"
#include "common/base/status_macros.h"
#include "core/document/nearest.h"
#include "core/document/schema.h"
#include "core/document/units.h"

namespace assay::document {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = YamlNode::Kind;

constexpr size_t kLongestQuote = 60;  // of a value in a sentence

class Filler {
 public:
  Filler(absl::string_view file_name, std::map<std::string, Position>* positions)
      : file_name_(file_name), positions_(*positions) {}

  absl::Status FillMessage(const YamlNode& node, const std::string& path, absl::string_view skip,
                           Message* message) {
    const Descriptor& descriptor = *message->GetDescriptor();
    const std::string known = absl::StrJoin(KeysOf(descriptor), ", ");
    if (node.kind != Kind::kMap) {
      return ErrorAt(file_name_, node.position, "document.not_a_map",
                     {{"key", path}, {"known", known}});
    }
    std::map<std::string, int> lines;  // of keys
    for (const YamlEntry& entry : node.entries) {
      auto [first, is_new] = lines.emplace(entry.key, entry.position.line);
      if (!is_new) {
        return ErrorAt(file_name_, entry.position, "document.duplicate_key",
                       {{"key", entry.key}, {"first", absl::StrCat(first->second)}});
      }
      if (!skip.empty() && entry.key == skip) continue;
      const FieldDescriptor* field = FieldOf(descriptor, entry.key);
      if (field == nullptr) return UnknownKey(entry, path, descriptor);
      ASSAY_RETURN_IF_ERROR(FillEntry(entry, Join(path, entry.key), *field, message));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status UnknownKey(const YamlEntry& entry, const std::string& path,
                          const Descriptor& descriptor) {
    std::vector<std::string> keys = KeysOf(descriptor);
    std::string nearest = Nearest(entry.key, keys);
    // The name in the message, as a tool or an API would spell it.
    for (int i = 0; i < descriptor.field_count(); ++i) {
      if (descriptor.field(i)->name() == entry.key) nearest = KeyOf(*descriptor.field(i));
    }
    MessageArgs args = {{"key", Quotable(entry.key)},
                        {"where", path.empty() ? DocumentKind(descriptor) : path}};
    if (nearest.empty()) {
      args.emplace_back("known", absl::StrJoin(keys, ", "));
      return ErrorAt(file_name_, entry.position, "document.unknown_key_of", args);
    }
    args.emplace_back("nearest", nearest);
    return ErrorAt(file_name_, entry.position, "document.unknown_key", args);
  }

  static std::string DocumentKind(const Descriptor& descriptor) {
    return absl::AsciiStrToLower(descriptor.name());
  }

  static std::string Quotable(absl::string_view text) {
    return text.size() <= kLongestQuote ? std::string(text)
                                        : absl::StrCat(text.substr(0, kLongestQuote), "...");
  }

  absl::Status FillEntry(const YamlEntry& entry, const std::string& path,
                         const FieldDescriptor& field, Message* message) {
    const YamlNode& node = *entry.value;
    bool leaf = node.kind == Kind::kScalar;
    positions_[path] = leaf ? node.position : entry.position;
    if (node.kind == Kind::kNull) {
      return ErrorAt(file_name_, entry.position, "document.no_value", {{"key", path}});
    }
    const google::protobuf::OneofDescriptor* oneof = field.real_containing_oneof();
    if (oneof != nullptr && message->GetReflection()->HasOneof(*message, oneof)) {
      const FieldDescriptor* other =
          message->GetReflection()->GetOneofFieldDescriptor(*message, oneof);
      return ErrorAt(file_name_, entry.position, "document.both_of_oneof",
                     {{"first", KeyOf(*other)}, {"second", entry.key}});
    }
    if (!field.is_repeated()) return FillValue(node, path, field, message);
    if (node.kind != Kind::kList) {
      return ErrorAt(file_name_, node.position, "document.not_a_list", {{"key", path}});
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      std::string item_path = Indexed(path, static_cast<int>(i));
      positions_[item_path] = node.items[i]->position;
      if (node.items[i]->kind == Kind::kNull) {
        return ErrorAt(file_name_, node.items[i]->position, "document.no_value",
                       {{"key", item_path}});
      }
      ASSAY_RETURN_IF_ERROR(FillValue(*node.items[i], item_path, field, message));
    }
    return absl::OkStatus();
  }

  absl::Status FillValue(const YamlNode& node, const std::string& path,
                         const FieldDescriptor& field, Message* message) {
    const google::protobuf::Reflection& reflection = *message->GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsDuration(field)) {
      Message* inner = field.is_repeated() ? reflection.AddMessage(message, &field)
                                           : reflection.MutableMessage(message, &field);
      return FillMessage(node, path, "", inner);
    }
    if (node.kind != Kind::kScalar) {
      return ErrorAt(file_name_, node.position, "document.not_one_value", {{"key", path}});
    }
    if (IsDuration(field)) {
      absl::StatusOr<absl::Duration> duration = ParseDuration(node.text);
      if (!duration.ok()) return At(node, duration.status());
      reflection.MutableMessage(message, &field)->CopyFrom(ToProto(*duration));
      return absl::OkStatus();
    }
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        field.is_repeated() ? reflection.AddString(message, &field, node.text)
                            : reflection.SetString(message, &field, node.text);
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_ENUM:
        return FillEnum(node, path, field, message);
      case FieldDescriptor::CPPTYPE_BOOL:
        return FillBool(node, path, field, message);
      default:
        return FillNumber(node, path, field, message);
    }
  }

  absl::Status FillEnum(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                        Message* message) {
    const auto* value = ValueOf(*field.enum_type(), node.text);
    if (value == nullptr) {
      std::vector<std::string> words = WordsOf(*field.enum_type());
      std::string nearest = Nearest(node.text, words);
      MessageArgs args = {{"key", path},
                          {"text", Quotable(node.text)},
                          {"nearest", nearest},
                          {"known", absl::StrJoin(words, ", ")}};
      return ErrorAt(file_name_, node.position,
                     nearest.empty() ? "document.unknown_word_of" : "document.unknown_word", args);
    }
    const google::protobuf::Reflection& reflection = *message->GetReflection();
    field.is_repeated() ? reflection.AddEnum(message, &field, value)
                        : reflection.SetEnum(message, &field, value);
    return absl::OkStatus();
  }

  absl::Status FillBool(const YamlNode& node, const std::string& path, const FieldDescriptor& field,
                        Message* message) {
    bool is_true = node.text == "true";
    if (node.quoted || (!is_true && node.text != "false")) {
      return ErrorAt(file_name_, node.position, "document.not_bool",
                     {{"key", path}, {"text", Quotable(node.text)}});
    }
    message->GetReflection()->SetBool(message, &field, is_true);
    return absl::OkStatus();
  }

  absl::Status FillNumber(const YamlNode& node, const std::string& path,
                          const FieldDescriptor& field, Message* message) {
    const v1::Unit unit = UnitOf(field);
    const google::protobuf::Reflection& reflection = *message->GetReflection();
    const bool is_double = field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
    if (unit != v1::UNIT_UNSPECIFIED || is_double) {
      absl::StatusOr<double> value = ParseQuantity(node.text, unit);
      if (!value.ok()) {
        if (absl::StartsWith(node.text, "-")) return Negative(node, path);
        return At(node, value.status());
      }
      if (is_double) {
        reflection.SetDouble(message, &field, *value);
        return absl::OkStatus();
      }
      if (*value != std::floor(*value)) {
        return ErrorAt(file_name_, node.position, "document.not_whole",
                       {{"key", path}, {"text", Quotable(node.text)}});
      }
      return SetInteger(node, path, field, *value < 0x1p63 ? static_cast<uint64_t>(*value) : ~0ull,
                        *value < 0x1p63, message);
    }
    if (absl::StartsWith(node.text, "-")) return Negative(node, path);
    uint64_t value = 0;
    bool digits = !node.text.empty() &&
                  node.text.find_first_not_of("0123456789") == std::string::npos &&
                  (node.text == "0" || node.text[0] != '0');
    if (node.quoted && digits) {
      return ErrorAt(file_name_, node.position, "document.quoted_number",
                     {{"key", path}, {"text", Quotable(node.text)}});
    }
    if (!digits || node.quoted) {
      return ErrorAt(file_name_, node.position, "document.not_integer",
                     {{"key", path}, {"text", Quotable(node.text)}});
    }
    bool fits = absl::SimpleAtoi(node.text, &value);
    return SetInteger(node, path, field, value, fits, message);
  }

  absl::Status SetInteger(const YamlNode& node, const std::string& path,
                          const FieldDescriptor& field, uint64_t value, bool fits,
                          Message* message) {
    const google::protobuf::Reflection& reflection = *message->GetReflection();
    const bool is_short = field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32;
    const uint64_t most =
        is_short ? std::numeric_limits<uint32_t>::max() : std::numeric_limits<uint64_t>::max();
    if (!fits || value > most) {
      return ErrorAt(file_name_, node.position, "document.number_too_large",
                     {{"key", path}, {"text", Quotable(node.text)}, {"most", absl::StrCat(most)}});
    }
    if (is_short) {
      field.is_repeated() ? reflection.AddUInt32(message, &field, static_cast<uint32_t>(value))
                          : reflection.SetUInt32(message, &field, static_cast<uint32_t>(value));
    } else {
      field.is_repeated() ? reflection.AddUInt64(message, &field, value)
                          : reflection.SetUInt64(message, &field, value);
    }
    return absl::OkStatus();
  }

  absl::Status Negative(const YamlNode& node, const std::string& path) {
    return ErrorAt(file_name_, node.position, "document.negative",
                   {{"key", path}, {"text", Quotable(node.text)}});
  }

  absl::Status At(const YamlNode& node, const absl::Status& status) {
    return Located(status, AtText(file_name_, node.position));
  }

  const absl::string_view file_name_;
  std::map<std::string, Position>& positions_;
};

}  // namespace

absl::Status Fill(const YamlNode& node, absl::string_view file_name, absl::string_view skip,
                  Message* message, std::map<std::string, Position>* positions) {
  return Filler(file_name, positions).FillMessage(node, "", skip, message);
}

}  // namespace assay::document
