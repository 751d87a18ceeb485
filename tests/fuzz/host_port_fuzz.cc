// Whatever is accepted has one spelling, which is read back as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/tls/dial.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view text(reinterpret_cast<const char*>(data), size);
  auto parsed = assay::tls::ParseHostPort(text);
  if (!parsed.ok()) return 0;
  auto again = assay::tls::ParseHostPort(parsed->ToString(), 1);
  if (!again.ok() || again->host != parsed->host || again->port != parsed->port) std::abort();
  if (parsed->port < 1 || parsed->port > 65535) std::abort();
  return 0;
}
