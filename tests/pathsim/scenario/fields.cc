#include "tests/pathsim/scenario/fields.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/document/units.h"

namespace assay::pathsim {

using document::YamlEntry;
using document::YamlNode;

void Reading::Fail(document::Position position, absl::string_view what) {
  if (!status.ok()) return;
  status = absl::InvalidArgumentError(absl::StrCat(document::AtText(file, position), what));
}

Fields::Fields(const YamlNode& node, absl::string_view what, Reading& reading)
    : node_(node), reading_(reading) {
  if (node.kind != YamlNode::Kind::kMap) {
    reading.Fail(node, absl::StrCat(what, " is a map of keys and values"));
  }
}

Fields::~Fields() {
  std::set<std::string> seen;
  for (const YamlEntry& entry : node_.entries) {
    if (!known_.contains(entry.key)) {
      reading_.Fail(entry.position, absl::StrCat("unknown key '", entry.key, "'"));
    }
    if (!seen.insert(entry.key).second) {
      reading_.Fail(entry.position, absl::StrCat("key '", entry.key, "' is written twice"));
    }
  }
}

const YamlNode* Fields::Take(absl::string_view key) {
  known_.emplace(key);
  for (const YamlEntry& entry : node_.entries) {
    if (entry.key == key) return entry.value.get();
  }
  return nullptr;
}

const std::string* Fields::TakeText(absl::string_view key, const YamlNode** node) {
  *node = Take(key);
  if (*node == nullptr) return nullptr;
  if ((*node)->kind != YamlNode::Kind::kScalar) {
    reading_.Fail(**node, absl::StrCat("'", key, "' is a single value"));
    return nullptr;
  }
  return &(*node)->text;
}

void Fields::Read(absl::string_view key, absl::Duration& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  absl::StatusOr<absl::Duration> value = document::ParseDuration(*text);
  if (!value.ok()) return reading_.Fail(*node, value.status().message());
  to = *value;
}

void Fields::Read(absl::string_view key, bool& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  if (*text != "true" && *text != "false") {
    return reading_.Fail(*node, absl::StrCat("'", key, "' is true or false"));
  }
  to = *text == "true";
}

void Fields::Read(absl::string_view key, std::string& to) {
  const YamlNode* node;
  if (const std::string* text = TakeText(key, &node)) to = *text;
}

void Fields::ReadRatio(absl::string_view key, double& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  absl::StatusOr<double> value = document::ParseQuantity(*text, v1::UNIT_RATIO);
  if (!value.ok()) return reading_.Fail(*node, value.status().message());
  to = *value;
}

void Fields::ReadNumber(absl::string_view key, double least, double most, double& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  double value;
  // NaN fails both comparisons.
  if (!absl::SimpleAtod(*text, &value) || !(value >= least && value <= most)) {
    return reading_.Fail(*node, absl::StrCat("'", key, "' is a number from ", least, " to ", most));
  }
  to = value;
}

void Fields::ReadBitsPerSecond(absl::string_view key, double& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  absl::StatusOr<double> value = document::ParseQuantity(*text, v1::UNIT_BITS_PER_SECOND);
  if (!value.ok()) return reading_.Fail(*node, value.status().message());
  // A packet of 64 KiB takes at most a quarter of an hour, which no sum of durations minds.
  if (*value < 600) return reading_.Fail(*node, absl::StrCat("'", key, "' is at least 600bps"));
  to = *value;
}

void Fields::ReadBytes(absl::string_view key, uint64_t& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  absl::StatusOr<double> value = document::ParseQuantity(*text, v1::UNIT_BYTES);
  if (!value.ok()) return reading_.Fail(*node, value.status().message());
  to = static_cast<uint64_t>(std::min(*value, 1e15));
}

void Fields::ReadUnsigned(absl::string_view key, uint64_t least, uint64_t most, uint64_t& to) {
  const YamlNode* node;
  const std::string* text = TakeText(key, &node);
  if (text == nullptr) return;
  uint64_t value;
  if (!absl::SimpleAtoi(*text, &value) || value < least || value > most) {
    return reading_.Fail(*node,
                         absl::StrCat("'", key, "' is a whole number from ", least, " to ", most));
  }
  to = value;
}

}  // namespace assay::pathsim
