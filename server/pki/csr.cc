#include "server/pki/csr.h"

#include <openssl/core_names.h>
#include <openssl/err.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/message.h"

namespace assay::pki {
namespace {

constexpr size_t kMaxRequestBytes = 16 << 10;

absl::Status BadRequest(absl::string_view detail) {
  return Error(absl::StatusCode::kInvalidArgument, "identity.bad_csr",
               {{"detail", std::string(detail)}});
}

absl::Status WeakKey(absl::string_view detail) {
  return Error(absl::StatusCode::kInvalidArgument, "identity.weak_key",
               {{"detail", std::string(detail)}});
}

// Before any arithmetic with the key: a huge one would be costly.
absl::Status CheckStrength(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") == 1) {
    int bits = EVP_PKEY_get_bits(key);
    if (bits < 2048 || bits > 8192) return WeakKey(absl::StrCat("RSA ", bits));
    return absl::OkStatus();
  }
  if (EVP_PKEY_is_a(key, "EC") != 1) {
    const char* type = EVP_PKEY_get0_type_name(key);
    return WeakKey(type == nullptr ? "?" : type);
  }
  // A known curve spelt out by its parameters is refused too: TLS peers refuse such certificates.
  int spelt_out = 0;
  EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &spelt_out);
  char group[64] = "?";
  size_t size = 0;
  EVP_PKEY_get_group_name(key, group, sizeof(group), &size);
  if (spelt_out != 0) return WeakKey(absl::StrCat(group, ", explicit parameters"));
  absl::string_view name = group;
  if (name != "prime256v1" && name != "secp384r1" && name != "secp521r1") return WeakKey(name);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<tls::KeyPtr> ReadCsr(absl::string_view der) {
  if (der.size() > kMaxRequestBytes) return BadRequest("too long");
  const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* end = begin;
  tls::RequestPtr request(d2i_X509_REQ(nullptr, &end, static_cast<long>(der.size())));  // NOLINT
  if (request == nullptr) return BadRequest(tls::TakeOpenSslError());
  if (end != begin + der.size()) return BadRequest("bytes after its end");
  tls::KeyPtr key(X509_REQ_get_pubkey(request.get()));
  if (key == nullptr) return BadRequest(tls::TakeOpenSslError());
  absl::Status strength = CheckStrength(key.get());
  const bool signed_by_key = strength.ok() && X509_REQ_verify(request.get(), key.get()) == 1;
  ERR_clear_error();
  if (!strength.ok()) return strength;
  if (!signed_by_key) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.csr_signature");
  }
  return key;
}

}  // namespace assay::pki
