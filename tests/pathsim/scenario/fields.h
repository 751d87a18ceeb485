// Typed access to the keys of a YAML map, with errors that say file, line and column.
#ifndef ASSAY_TESTS_PATHSIM_SCENARIO_FIELDS_H_
#define ASSAY_TESTS_PATHSIM_SCENARIO_FIELDS_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/document/yaml.h"

namespace assay::pathsim {

// Where a reading stands: the first error is kept, everything after it may be nonsense.
struct Reading {
  std::string file;
  absl::Status status;

  bool ok() const { return status.ok(); }
  void Fail(document::Position position, absl::string_view what);
  void Fail(const document::YamlNode& node, absl::string_view what) { Fail(node.position, what); }
};

// One map. Each Read() leaves its target alone when the key is absent.
class Fields {
 public:
  // A node that isn't a map is an error; `what` says what it should be.
  Fields(const document::YamlNode& node, absl::string_view what, Reading& reading);
  // Keys that nobody asked for, and keys written twice, are errors.
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // The value of `key`, nullptr where it is absent.
  const document::YamlNode* Take(absl::string_view key);

  void Read(absl::string_view key, absl::Duration& to);
  void Read(absl::string_view key, bool& to);
  void Read(absl::string_view key, std::string& to);
  // A probability: "5%" or "0.05".
  void ReadRatio(absl::string_view key, double& to);
  void ReadNumber(absl::string_view key, double least, double most, double& to);
  void ReadBitsPerSecond(absl::string_view key, double& to);
  void ReadBytes(absl::string_view key, uint64_t& to);
  template <typename Int>
  void ReadInteger(absl::string_view key, uint64_t least, uint64_t most, Int& to) {
    uint64_t value = to;
    ReadUnsigned(key, least, most, value);
    to = static_cast<Int>(value);
  }

 private:
  void ReadUnsigned(absl::string_view key, uint64_t least, uint64_t most, uint64_t& to);
  // The text of a scalar; an error for anything else.
  const std::string* TakeText(absl::string_view key, const document::YamlNode** node);

  const document::YamlNode& node_;
  Reading& reading_;
  std::set<std::string> known_;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_SCENARIO_FIELDS_H_
