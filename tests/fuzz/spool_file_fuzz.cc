// A spool file is refused, or it is one that the agent could have written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "agent/spool/file_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The first line is the file's name.
  absl::string_view input(reinterpret_cast<const char*>(data), size);
  size_t newline = input.find('\n');
  if (newline == absl::string_view::npos) return 0;
  absl::string_view name = input.substr(0, newline);
  auto result = assay::spool::DecodeFile(input.substr(newline + 1), name);
  if (!result.ok()) return 0;
  std::string again = assay::spool::EncodeFile(*result);
  if (!assay::spool::DecodeFile(again, name).ok()) std::abort();
  return 0;
}
