// What differs between two versions of a document, one line a difference.
#ifndef ASSAY_CORE_DOCUMENT_CHANGES_H_
#define ASSAY_CORE_DOCUMENT_CHANGES_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"

namespace assay::document {

// Lines in the spelling of documents and in no human language, in the order of the proto file:
//   claim.gpu_count: 4 -> 8
//   claim.gpu_memory: 48GB -> 80GB
//   seller: - -> "Example Ltd"                   "-" is a value that is not set
//   servers: [hk-1] -> [hk-1, hk-2]
//   probes[echo].icmp.interval: 50ms -> 20ms     items with a name or id are matched by it
//   + probes[web]                                an item or a part that was added
//   - probes[old]
//   probes: [a, b] -> [b, a]                     only the order of the items that stayed changed
//   windows[peak].intervals[0].end: "22:00" -> "23:00"   other items are matched by place
// Empty where the messages are equal. Both must be of one type; give the
// server, vantage, profile or plan itself rather than the Document around it.
std::vector<std::string> DescribeChanges(const google::protobuf::Message& before,
                                         const google::protobuf::Message& after);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_CHANGES_H_
