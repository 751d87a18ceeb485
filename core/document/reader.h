// Reads YAML documents into the messages of proto/assay/v1/model.proto, by reflection.
//
// A file holds one or more YAML documents, each a map with `kind: server` (vantage, profile, plan)
// and that message's fields. Keys are field names; a field that carries a unit (options.proto) is
// written without the unit's suffix (`memory` for memory_bytes), and its value with one. Durations
// are "50ms", "5m", "1h30m", "7d". Enumerators are written in lower case without their prefix
// (`role: off_peak`); the kind of a vantage is written `vantage_kind: office` because `kind` names
// the document.
//
// Numbers and booleans are written without quotes; text may be quoted or not. Anchors and aliases
// work; tags and merge keys do not. At most 1 MiB, 50,000 values, 32 levels.
#ifndef ASSAY_CORE_DOCUMENT_READER_H_
#define ASSAY_CORE_DOCUMENT_READER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"
#include "core/document/position.h"

namespace assay::document {

struct ReadDocument {
  v1::Document document;
  // Where each field that was written stands, by path in keys: "probes[1].icmp.count",
  // "claim.gpu_memory"; "" is the document itself.
  std::map<std::string, Position> positions;
};

// Reads and checks all documents of a file. Every error is INVALID_ARGUMENT and begins with
// "file:line:column: "; it is the first one. `file_name` is only used in messages.
//
// What is checked beyond the schema is in check.h; here, that no two documents of the file have the
// same kind and name.
absl::StatusOr<std::vector<ReadDocument>> ReadDocuments(absl::string_view text,
                                                        absl::string_view file_name);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_READER_H_
