// PEM from outside: certificates, and whole identities.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/tls/identity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view pem(reinterpret_cast<const char*>(data), size);
  auto info = assay::tls::ReadCertificate(pem);
  if (info.ok() && info->sha256.size() != 71) std::abort();
  auto identity = assay::tls::ParseIdentity(pem);
  if (identity.ok() && !assay::tls::CheckIdentity(*identity).ok()) std::abort();
  return 0;
}
