// YAML text as a tree that knows where everything stands. Bounded in size, depth and what aliases
// may multiply, so that a hostile file costs no more than a large honest one.
#ifndef ASSAY_CORE_DOCUMENT_YAML_H_
#define ASSAY_CORE_DOCUMENT_YAML_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/document/position.h"

namespace assay::document {

constexpr size_t kMostBytes = 1 << 20;
constexpr uint64_t kMostNodes = 50'000;  // aliases count as what they stand for
constexpr int kDeepest = 32;

struct YamlNode;
using YamlPtr = std::shared_ptr<const YamlNode>;

struct YamlEntry {
  std::string key;
  Position position;
  YamlPtr value;
};

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Position position;
  std::string text;     // of a scalar, as written but for quotes and escapes
  bool quoted = false;  // of a scalar: text even where it looks like a number
  std::vector<YamlPtr> items;
  std::vector<YamlEntry> entries;  // in order; duplicate keys are still there
  uint64_t size = 1;               // nodes below and including this one
  int depth = 1;
};

// The documents of a file; those without content are left out. INVALID_ARGUMENT with
// "file:line:column: " for anything that is not YAML, not UTF-8, or too large; tabs as indentation,
// tags and keys that are not scalars are refused too.
absl::StatusOr<std::vector<YamlPtr>> ParseYaml(absl::string_view text, absl::string_view file_name);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_YAML_H_
