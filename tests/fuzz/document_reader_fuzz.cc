// Any bytes as a file of documents: an answer, never a crash, and what is accepted stays
// meaningful.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/base/message.h"
#include "core/document/changes.h"
#include "core/document/check.h"
#include "core/document/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view text(reinterpret_cast<const char*>(data), size);
  auto documents = assay::document::ReadDocuments(text, "fuzz.yaml");
  if (!documents.ok()) {
    // Every refusal says where, and has a sentence in both languages.
    auto message = assay::MessageOf(documents.status());
    bool placed = documents.status().message().substr(0, 10) == "fuzz.yaml:";
    if (!message.has_value() || !placed) std::abort();
    if (assay::Render(assay::Language::kChinese, *message).find("fuzz.yaml:") != 0) std::abort();
    return 0;
  }
  for (const auto& read : *documents) {
    if (!assay::document::Check(read.document).ok()) std::abort();
    if (!assay::document::DescribeChanges(read.document, read.document).empty()) std::abort();
  }
  return 0;
}
