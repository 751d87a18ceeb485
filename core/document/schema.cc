#include "core/document/schema.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "assay/v1/model.pb.h"

namespace assay::document {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;

absl::string_view SuffixOf(v1::Unit unit) {
  switch (unit) {
    case v1::UNIT_BYTES:
      return "_bytes";
    case v1::UNIT_BITS_PER_SECOND:
      return "_bps";
    case v1::UNIT_BYTES_PER_SECOND:
      return "_bytes_per_s";
    case v1::UNIT_RATIO:
      return "_ratio";
    case v1::UNIT_MILLISECONDS:
      return "_ms";
    default:
      return "";
  }
}

// The field of Document that holds a message of this type; nullptr for inner messages.
const FieldDescriptor* DocumentFieldOf(const Descriptor& message) {
  const Descriptor* document = v1::Document::descriptor();
  for (int i = 0; i < document->field_count(); ++i) {
    if (document->field(i)->message_type() == &message) return document->field(i);
  }
  return nullptr;
}

}  // namespace

v1::Unit UnitOf(const FieldDescriptor& field) { return field.options().GetExtension(v1::unit); }

bool IsRequired(const FieldDescriptor& field) { return field.options().GetExtension(v1::required); }

bool IsDuration(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
         field.message_type()->full_name() == "google.protobuf.Duration";
}

std::string KeyOf(const FieldDescriptor& field) {
  if (field.name() == "kind") {
    const FieldDescriptor* document = DocumentFieldOf(*field.containing_type());
    if (document != nullptr) return absl::StrCat(document->name(), "_kind");
  }
  return std::string(absl::StripSuffix(field.name(), SuffixOf(UnitOf(field))));
}

std::vector<std::string> KeysOf(const Descriptor& message) {
  std::vector<std::string> keys;
  keys.reserve(message.field_count());
  for (int i = 0; i < message.field_count(); ++i) keys.push_back(KeyOf(*message.field(i)));
  return keys;
}

const FieldDescriptor* FieldOf(const Descriptor& message, absl::string_view key) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (KeyOf(*message.field(i)) == key) return message.field(i);
  }
  return nullptr;
}

std::string WordOf(const EnumValueDescriptor& value) {
  // The prefix is what the zero value has before "UNSPECIFIED".
  absl::string_view prefix =
      absl::StripSuffix(value.type()->FindValueByNumber(0)->name(), "UNSPECIFIED");
  return absl::AsciiStrToLower(absl::StripPrefix(value.name(), prefix));
}

std::vector<std::string> WordsOf(const EnumDescriptor& enumeration) {
  std::vector<std::string> words;
  for (int i = 0; i < enumeration.value_count(); ++i) {
    if (enumeration.value(i)->number() != 0) words.push_back(WordOf(*enumeration.value(i)));
  }
  return words;
}

const EnumValueDescriptor* ValueOf(const EnumDescriptor& enumeration, absl::string_view word) {
  for (int i = 0; i < enumeration.value_count(); ++i) {
    const EnumValueDescriptor* value = enumeration.value(i);
    if (value->number() != 0 && WordOf(*value) == word) return value;
  }
  return nullptr;
}

std::string Join(absl::string_view path, absl::string_view key) {
  return path.empty() ? std::string(key) : absl::StrCat(path, ".", key);
}

std::string Indexed(absl::string_view path, int index) {
  return absl::StrCat(path, "[", index, "]");
}

}  // namespace assay::document
