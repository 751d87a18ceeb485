#include "core/verdict/canonical.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace assay::verdict {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Bits of IEEE 754; one zero, one not-a-number.
std::string Bits(double value) {
  if (std::isnan(value)) return "7ff8000000000000";
  if (value == 0) value = 0;
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return absl::StrCat(absl::Hex(bits, absl::kZeroPad16));
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}

// index < 0: a singular field.
std::string Scalar(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  const bool one = index < 0;
  std::string scratch;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(one ? reflection->GetInt32(message, field)
                              : reflection->GetRepeatedInt32(message, field, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(one ? reflection->GetInt64(message, field)
                              : reflection->GetRepeatedInt64(message, field, index));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(one ? reflection->GetUInt32(message, field)
                              : reflection->GetRepeatedUInt32(message, field, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(one ? reflection->GetUInt64(message, field)
                              : reflection->GetRepeatedUInt64(message, field, index));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Bits(one ? reflection->GetDouble(message, field)
                      : reflection->GetRepeatedDouble(message, field, index));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Bits(one ? reflection->GetFloat(message, field)
                      : reflection->GetRepeatedFloat(message, field, index));
    case FieldDescriptor::CPPTYPE_BOOL:
      return (one ? reflection->GetBool(message, field)
                  : reflection->GetRepeatedBool(message, field, index))
                 ? "1"
                 : "0";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat(one ? reflection->GetEnumValue(message, field)
                              : reflection->GetRepeatedEnumValue(message, field, index));
    case FieldDescriptor::CPPTYPE_STRING:
      return Quoted(one ? reflection->GetStringReference(message, field, &scratch)
                        : reflection->GetRepeatedStringReference(message, field, index, &scratch));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return "";
}

// proto3 has no presence for plain numbers: one that is set to its default is as good as unset, and
// so is a negative zero.
bool IsDefault(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (!reflection->HasField(message, field)) return true;
  return field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE && !field->has_presence() &&
         reflection->GetDouble(message, field) == 0;
}

void Append(const Message& message, const std::string& path, std::string* out);

void AppendValue(const Message& message, const FieldDescriptor* field, int index,
                 const std::string& path, std::string* out) {
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    absl::StrAppend(out, path, "=", Scalar(message, field, index), "\n");
    return;
  }
  const Reflection* reflection = message.GetReflection();
  absl::StrAppend(out, path, "={}\n");
  Append(index < 0 ? reflection->GetMessage(message, field)
                   : reflection->GetRepeatedMessage(message, field, index),
         absl::StrCat(path, "."), out);
}

void AppendMap(const Message& message, const FieldDescriptor* field, const std::string& path,
               std::string* out) {
  const Reflection* reflection = message.GetReflection();
  const FieldDescriptor* key = field->message_type()->map_key();
  const FieldDescriptor* value = field->message_type()->map_value();
  std::vector<std::pair<std::string, const Message*>> entries;
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    const Message& entry = reflection->GetRepeatedMessage(message, field, i);
    entries.emplace_back(Scalar(entry, key, -1), &entry);
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [name, entry] : entries) {
    AppendValue(*entry, value, -1, absl::StrCat(path, "[", name, "]"), out);
  }
}

void Append(const Message& message, const std::string& path, std::string* out) {
  const Reflection* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);  // by ascending number
  for (const FieldDescriptor* field : fields) {
    const std::string here = absl::StrCat(path, field->number());
    if (field->is_map()) {
      AppendMap(message, field, here, out);
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        AppendValue(message, field, i, absl::StrCat(here, "[", i, "]"), out);
      }
    } else if (!IsDefault(message, field)) {
      AppendValue(message, field, -1, here, out);
    }
  }
}

}  // namespace

std::string CanonicalForm(const Message& message, absl::string_view prefix) {
  std::string out;
  Append(message, std::string(prefix), &out);
  return out;
}

}  // namespace assay::verdict
