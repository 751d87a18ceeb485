// A name has one spelling: what is accepted is what would be written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "server/pki/authority.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view uri(reinterpret_cast<const char*>(data), size);
  auto name = assay::pki::ParsePeerUri(uri);
  if (name.ok() && assay::pki::FormatPeerUri(*name) != uri) std::abort();
  return 0;
}
