#include "cli/render/json.h"

#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "assay/v1/message.pb.h"
#include "cli/render/view.h"
#include "google/protobuf/descriptor.h"

namespace assay::render {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;
using nlohmann::ordered_json;

ordered_json NumberOrNull(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

// One value of a field; `index` < 0: the field is not repeated.
ordered_json ValueOf(const google::protobuf::Message& message, const FieldDescriptor& field,
                     int index, Language language) {
  const Reflection& from = *message.GetReflection();
#define ASSAY_GET(kind) \
  (index < 0 ? from.Get##kind(message, &field) : from.GetRepeated##kind(message, &field, index))
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return ASSAY_GET(Int32);
    case FieldDescriptor::CPPTYPE_INT64:
      return ASSAY_GET(Int64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return ASSAY_GET(UInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return ASSAY_GET(UInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberOrNull(ASSAY_GET(Double));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberOrNull(ASSAY_GET(Float));
    case FieldDescriptor::CPPTYPE_BOOL:
      return ASSAY_GET(Bool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumName(*field.enum_type(), ASSAY_GET(EnumValue));
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string text = ASSAY_GET(String);
      return field.type() == FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(ASSAY_GET(Message), language);
  }
#undef ASSAY_GET
  return nullptr;
}

ordered_json MapOf(const google::protobuf::Message& message, const FieldDescriptor& field,
                   Language language) {
  const Reflection& from = *message.GetReflection();
  std::map<std::string, ordered_json> sorted;
  for (int i = 0; i < from.FieldSize(message, &field); ++i) {
    const google::protobuf::Message& entry = from.GetRepeatedMessage(message, &field, i);
    const google::protobuf::Descriptor& type = *entry.GetDescriptor();
    ordered_json key = ValueOf(entry, *type.map_key(), -1, language);
    sorted[key.is_string() ? key.get<std::string>() : key.dump()] =
        ValueOf(entry, *type.map_value(), -1, language);
  }
  ordered_json object = ordered_json::object();
  for (auto& [key, value] : sorted) object[key] = std::move(value);
  return object;
}

}  // namespace

ordered_json ToJson(const google::protobuf::Message& message, Language language) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  if (type.full_name() == "google.protobuf.Timestamp") {
    google::protobuf::Timestamp time;
    time.CopyFrom(message);
    return MachineTime(time);
  }
  if (type.full_name() == "google.protobuf.Duration") {
    google::protobuf::Duration duration;
    duration.CopyFrom(message);
    return absl::ToDoubleSeconds(FromProto(duration));
  }
  const Reflection& from = *message.GetReflection();
  ordered_json object = ordered_json::object();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.is_map()) {
      object[field.name()] = MapOf(message, field, language);
    } else if (field.is_repeated()) {
      ordered_json array = ordered_json::array();
      for (int k = 0; k < from.FieldSize(message, &field); ++k) {
        array.push_back(ValueOf(message, field, k, language));
      }
      object[field.name()] = std::move(array);
    } else if (field.has_presence() ? from.HasField(message, &field) : true) {
      object[field.name()] = ValueOf(message, field, -1, language);
    }
  }
  if (type.full_name() == v1::Message::descriptor()->full_name()) {
    v1::Message sentence;
    sentence.CopyFrom(message);
    object["text"] = Render(language, sentence);
  }
  return object;
}

std::string Pretty(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string Line(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace assay::render
