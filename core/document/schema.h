// How the messages of model.proto are spelled in documents.
#ifndef ASSAY_CORE_DOCUMENT_SCHEMA_H_
#define ASSAY_CORE_DOCUMENT_SCHEMA_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "assay/v1/options.pb.h"
#include "google/protobuf/descriptor.h"

namespace assay::document {

v1::Unit UnitOf(const google::protobuf::FieldDescriptor& field);
bool IsRequired(const google::protobuf::FieldDescriptor& field);
bool IsDuration(const google::protobuf::FieldDescriptor& field);

// The field's name without its unit's suffix: "gpu_memory" for gpu_memory_bytes. The field `kind`
// of a document's own message is spelled "vantage_kind", since `kind` names the document.
std::string KeyOf(const google::protobuf::FieldDescriptor& field);

// Keys of a message, in the order of the proto file.
std::vector<std::string> KeysOf(const google::protobuf::Descriptor& message);

// nullptr where no field has this key.
const google::protobuf::FieldDescriptor* FieldOf(const google::protobuf::Descriptor& message,
                                                 absl::string_view key);

// "off_peak" for WINDOW_ROLE_OFF_PEAK.
std::string WordOf(const google::protobuf::EnumValueDescriptor& value);

// The words that may be written: all but the unspecified one.
std::vector<std::string> WordsOf(const google::protobuf::EnumDescriptor& enumeration);

// nullptr for an unknown word, and for "unspecified".
const google::protobuf::EnumValueDescriptor* ValueOf(
    const google::protobuf::EnumDescriptor& enumeration, absl::string_view word);

// "probes[1].icmp" and "count" give "probes[1].icmp.count"; "" and "name" give "name".
std::string Join(absl::string_view path, absl::string_view key);
std::string Indexed(absl::string_view path, int index);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_SCHEMA_H_
