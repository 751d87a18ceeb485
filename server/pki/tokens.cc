#include <openssl/rand.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "common/hash/sha256.h"
#include "server/pki/authority.h"

namespace assay::pki {
namespace {

// Characters of RFC 4648's base32 alphabet in lower case, 5 random bits each.
std::string RandomBase32(size_t characters) {
  constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string bytes(characters, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(characters)) !=
      1) {
    // A token that can be guessed is worse than none.
    std::fputs("no random numbers from the operating system\n", stderr);
    std::abort();
  }
  for (char& c : bytes) c = kAlphabet[static_cast<unsigned char>(c) % 32];
  return bytes;
}

}  // namespace

std::string NewToken() { return absl::StrCat("assay-", RandomBase32(32)); }

std::string HashToken(absl::string_view token) { return Sha256Hex(token); }

std::string NewAgentId() { return absl::StrCat("a-", RandomBase32(16)); }

}  // namespace assay::pki
