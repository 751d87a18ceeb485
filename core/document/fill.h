// From a YAML tree to a message, by reflection.
#ifndef ASSAY_CORE_DOCUMENT_FILL_H_
#define ASSAY_CORE_DOCUMENT_FILL_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/document/yaml.h"
#include "google/protobuf/message.h"

namespace assay::document {

// Fills `message`, which is empty, from the map `node`; the key `skip` is passed over at the top.
// `positions` gets the place of each field by its path. Unknown, duplicate and empty keys, values
// of the wrong form or out of the field's range, and two fields of one oneof are INVALID_ARGUMENT.
// Missing fields are not (check.h).
absl::Status Fill(const YamlNode& node, absl::string_view file_name, absl::string_view skip,
                  google::protobuf::Message* message, std::map<std::string, Position>* positions);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_FILL_H_
