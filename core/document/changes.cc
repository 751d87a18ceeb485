#include "core/document/changes.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/proto_time.h"
#include "core/document/check.h"
#include "core/document/schema.h"
#include "core/document/units.h"

namespace assay::document {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kUnset[] = "-";

// A text as it is, where it cannot be mistaken for anything else.
std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

// The value of a field that is no message, or item `i` of a repeated one.
std::string ValueText(const Message& message, const FieldDescriptor& field, int i) {
  const auto& reflection = *message.GetReflection();
  auto number = [&](auto value) {
    return UnitOf(field) == v1::UNIT_UNSPECIFIED
               ? absl::StrCat(value)
               : WriteQuantity(static_cast<double>(value), UnitOf(field));
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string text = i < 0 ? reflection.GetString(message, &field)
                               : reflection.GetRepeatedString(message, &field, i);
      return i >= 0 && IsName(text) ? text : Quoted(text);
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      int value = i < 0 ? reflection.GetEnumValue(message, &field)
                        : reflection.GetRepeatedEnumValue(message, &field, i);
      const auto* descriptor = field.enum_type()->FindValueByNumber(value);
      return descriptor == nullptr ? absl::StrCat(value) : WordOf(*descriptor);
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return (i < 0 ? reflection.GetBool(message, &field)
                    : reflection.GetRepeatedBool(message, &field, i))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_UINT32:
      return number(i < 0 ? reflection.GetUInt32(message, &field)
                          : reflection.GetRepeatedUInt32(message, &field, i));
    case FieldDescriptor::CPPTYPE_UINT64:
      return number(i < 0 ? reflection.GetUInt64(message, &field)
                          : reflection.GetRepeatedUInt64(message, &field, i));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number(i < 0 ? reflection.GetDouble(message, &field)
                          : reflection.GetRepeatedDouble(message, &field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE: {  // a duration
      const Message& inner = i < 0 ? reflection.GetMessage(message, &field)
                                   : reflection.GetRepeatedMessage(message, &field, i);
      return WriteDuration(FromProto(static_cast<const google::protobuf::Duration&>(inner)));
    }
    default:
      return "";  // model.proto has no other types
  }
}

// A whole field; kUnset where it has none.
std::string FieldText(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  if (!field.is_repeated()) {
    return reflection.HasField(message, &field) ? ValueText(message, field, -1) : kUnset;
  }
  std::vector<std::string> items;
  items.reserve(reflection.FieldSize(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    items.push_back(ValueText(message, field, i));
  }
  return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
}

class Describer {
 public:
  std::vector<std::string> TakeLines() { return std::move(lines_); }

  void Compare(const Message& before, const Message& after, const std::string& path) {
    const auto& descriptor = *before.GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const FieldDescriptor& field = *descriptor.field(i);
      const std::string field_path = Join(path, KeyOf(field));
      bool inner = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !IsDuration(field);
      if (!inner) {
        std::string old_text = FieldText(before, field);
        std::string new_text = FieldText(after, field);
        if (old_text != new_text) Line(field_path, old_text, new_text);
      } else if (field.is_repeated()) {
        CompareLists(before, after, field, field_path);
      } else {
        ComparePart(before, after, field, field_path);
      }
    }
  }

 private:
  void Line(const std::string& path, const std::string& old_text, const std::string& new_text) {
    lines_.push_back(absl::StrCat(path, ": ", old_text, " -> ", new_text));
  }

  void ComparePart(const Message& before, const Message& after, const FieldDescriptor& field,
                   const std::string& path) {
    const auto& reflection = *before.GetReflection();
    bool had = reflection.HasField(before, &field);
    bool has = reflection.HasField(after, &field);
    if (had != has) lines_.push_back(absl::StrCat(has ? "+ " : "- ", path));
    if (has) {
      Compare(reflection.GetMessage(before, &field), reflection.GetMessage(after, &field), path);
    }
  }

  void CompareLists(const Message& before, const Message& after, const FieldDescriptor& field,
                    const std::string& path) {
    const auto& reflection = *before.GetReflection();
    auto keys = [&](const Message& message) {
      std::vector<std::string> list;
      list.reserve(reflection.FieldSize(message, &field));
      for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
        list.push_back(KeyOfItem(reflection.GetRepeatedMessage(message, &field, i), i));
      }
      return list;
    };
    const std::vector<std::string> old_keys = keys(before);
    const std::vector<std::string> new_keys = keys(after);
    auto index = [](const std::vector<std::string>& list, const std::string& key) {
      auto found = std::find(list.begin(), list.end(), key);
      return found == list.end() ? -1 : static_cast<int>(found - list.begin());
    };
    for (const std::string& key : old_keys) {
      if (index(new_keys, key) < 0) lines_.push_back(absl::StrCat("- ", path, "[", key, "]"));
    }
    std::vector<std::string> old_order, new_order;
    for (const std::string& key : old_keys) {
      if (index(new_keys, key) >= 0) old_order.push_back(key);
    }
    for (size_t i = 0; i < new_keys.size(); ++i) {
      const std::string item_path = absl::StrCat(path, "[", new_keys[i], "]");
      int old_index = index(old_keys, new_keys[i]);
      if (old_index < 0) {
        lines_.push_back(absl::StrCat("+ ", item_path));
        continue;
      }
      new_order.push_back(new_keys[i]);
      Compare(reflection.GetRepeatedMessage(before, &field, old_index),
              reflection.GetRepeatedMessage(after, &field, static_cast<int>(i)), item_path);
    }
    if (old_order != new_order) {
      Line(path, absl::StrCat("[", absl::StrJoin(old_order, ", "), "]"),
           absl::StrCat("[", absl::StrJoin(new_order, ", "), "]"));
    }
  }

  // Its name or id, else its place.
  static std::string KeyOfItem(const Message& item, int place) {
    for (const char* name : {"name", "id"}) {
      const FieldDescriptor* field = item.GetDescriptor()->FindFieldByName(name);
      if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
      std::string key = item.GetReflection()->GetString(item, field);
      if (!key.empty()) return key;
    }
    return absl::StrCat(place);
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> DescribeChanges(const Message& before, const Message& after) {
  Describer describer;
  describer.Compare(before, after, "");
  return describer.TakeLines();
}

}  // namespace assay::document
