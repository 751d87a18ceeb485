// agent.yaml: whatever stands in it, a guard comes out, and it doesn't contradict itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "agent/guard/guard.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view text(reinterpret_cast<const char*>(data), size);
  std::unique_ptr<assay::guard::Guard> guard = assay::guard::ParseGuard(text, "agent.yaml");
  const std::vector<std::string> servers = {"gpu.example.com", "203.0.113.7"};
  bool host = guard->CheckHost("203.0.113.7", servers).ok();
  bool address = guard->CheckAddress("203.0.113.7", "203.0.113.7").ok();
  // For a literal plain address, allowed as a host means allowed as an address.
  if (host && !address) abort();
  (void)guard->CheckHost(text, servers);
  (void)guard->CheckAddress("gpu.example.com", text);
  return 0;
}
