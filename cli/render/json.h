// Messages as JSON for programs.
//
// Keys are the fields' names. Numbers are numbers (64-bit ones too), enumerators are lower case
// without their prefix ("off_peak"), times are RFC 3339 in UTC, durations are seconds, infinities
// and NaN are null, bytes are base64. Every field is there, whatever its value, but for messages
// that are not set. A catalogue message also carries its sentence as "text".
#ifndef ASSAY_CLI_RENDER_JSON_H_
#define ASSAY_CLI_RENDER_JSON_H_

#include <string>

#include "common/base/message.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace assay::render {

nlohmann::ordered_json ToJson(const google::protobuf::Message& message, Language language);

// Indented, ended by a line break. Bytes that are no UTF-8 become U+FFFD.
std::string Pretty(const nlohmann::ordered_json& json);
// On one line, ended by a line break.
std::string Line(const nlohmann::ordered_json& json);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_JSON_H_
