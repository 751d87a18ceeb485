// Certificate requests (DER) from whoever holds a join token.
#include <cstddef>
#include <cstdint>

#include "server/pki/csr.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto key = assay::pki::ReadCsr(absl::string_view(reinterpret_cast<const char*>(data), size));
  static_cast<void>(key.ok());
  return 0;
}
