// Reads YAML documents into the messages of proto/assay/v1/model.proto, by reflection.
//
// A file holds one or more YAML documents, each a map that starts with `kind: server` (vantage,
// profile, plan) and goes on with that message's fields. Keys are field names; a field that carries
// a unit (options.proto) is written without the unit's suffix, and its value with one. Durations
// are "50ms", "5m", "1h30m", "7d". Enumerators are written in lower case without their prefix
// (`role: off_peak`, `kind: office` inside a vantage is written `vantage_kind: office` because
// `kind` names the document).
#ifndef ASSAY_CORE_DOCUMENT_READER_H_
#define ASSAY_CORE_DOCUMENT_READER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"

namespace assay::document {

// Counted from 1.
struct Position {
  int line = 0;
  int column = 0;
};

struct ReadDocument {
  v1::Document document;
  // Where each field that was written stands, by path: "probes[1].icmp.count".
  std::map<std::string, Position> positions;
};

// Reads and checks all documents of a file. Every error is INVALID_ARGUMENT and begins with
// "file:line:column: ". `file_name` is only used in messages.
//
// Checked here, beyond the schema: names, addresses, host names, ports, time zones, times of day,
// dates, window overlaps within a plan, references inside a plan (windows and vantages named in
// probes and criteria), metrics and thresholds of criteria, duplicates.
absl::StatusOr<std::vector<ReadDocument>> ReadDocuments(absl::string_view text,
                                                        absl::string_view file_name);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_READER_H_
