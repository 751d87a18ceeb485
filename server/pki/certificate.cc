#include "server/pki/certificate.h"

#include <openssl/err.h>

#include <utility>

#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::pki {
namespace {

constexpr int kSerialBits = 128;

absl::Status CertificateOpenSslError() {
  return Error(absl::StatusCode::kInternal, "identity.openssl",
               {{"detail", tls::TakeOpenSslError()}});
}

bool SetRandomSerial(X509* certificate) {
  tls::BignumPtr number(BN_new());
  return number != nullptr &&
         BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_is_zero(number.get()) == 0 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetValidity(X509* certificate, absl::Time not_before, absl::Time not_after) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(not_before)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(not_after)) != nullptr;
}

// `value` as in openssl-x509v3_config; never anything from outside, which could inject more.
bool AddExtension(X509* certificate, X509V3_CTX* context, int nid, const char* value) {
  tls::ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, context, nid, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool PushName(GENERAL_NAMES* names, int type, const std::string& value) {
  GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, type, value.c_str(), 0);
  if (name == nullptr) return false;
  if (sk_GENERAL_NAME_push(names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

bool IsIpAddress(const std::string& text) {
  ASN1_OCTET_STRING* bytes = a2i_IPADDRESS(text.c_str());
  ASN1_OCTET_STRING_free(bytes);
  ERR_clear_error();
  return bytes != nullptr;
}

bool AddAlternativeNames(X509* certificate, const LeafRequest& request) {
  tls::NamesPtr names(sk_GENERAL_NAME_new_null());
  if (names == nullptr || !PushName(names.get(), GEN_URI, request.uri)) return false;
  for (const std::string& name : request.names) {
    if (!PushName(names.get(), IsIpAddress(name) ? GEN_IPADD : GEN_DNS, name)) return false;
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), /*crit=*/1,
                           X509V3_ADD_APPEND) == 1;
}

}  // namespace

absl::StatusOr<tls::CertificatePtr> MakeCaCertificate(EVP_PKEY& key, absl::string_view common_name,
                                                      absl::Time not_before, absl::Time not_after) {
  tls::CertificatePtr made(X509_new());
  X509* certificate = made.get();
  if (certificate == nullptr || X509_set_version(certificate, X509_VERSION_3) != 1 ||
      !SetRandomSerial(certificate) || !SetValidity(certificate, not_before, not_after) ||
      X509_set_pubkey(certificate, &key) != 1) {
    return CertificateOpenSslError();
  }
  X509_NAME* subject = X509_get_subject_name(certificate);
  if (X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) != 1 ||
      X509_set_issuer_name(certificate, subject) != 1) {
    return CertificateOpenSslError();
  }
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  if (!AddExtension(certificate, &context, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !AddExtension(certificate, &context, NID_key_usage, "critical,keyCertSign") ||
      !AddExtension(certificate, &context, NID_subject_key_identifier, "hash") ||
      X509_sign(certificate, &key, EVP_sha256()) <= 0) {
    return CertificateOpenSslError();
  }
  return made;
}

absl::StatusOr<tls::CertificatePtr> MakeLeafCertificate(EVP_PKEY& public_key, X509& ca,
                                                        EVP_PKEY& ca_key,
                                                        const LeafRequest& request) {
  tls::CertificatePtr made(X509_new());
  X509* certificate = made.get();
  if (certificate == nullptr || X509_set_version(certificate, X509_VERSION_3) != 1 ||
      !SetRandomSerial(certificate) ||
      !SetValidity(certificate, request.not_before, request.not_after) ||
      X509_set_pubkey(certificate, &public_key) != 1 ||
      X509_set_issuer_name(certificate, X509_get_subject_name(&ca)) != 1 ||
      !AddAlternativeNames(certificate, request)) {
    return CertificateOpenSslError();
  }
  X509V3_CTX context;
  X509V3_set_ctx(&context, &ca, certificate, nullptr, nullptr, 0);
  if (!AddExtension(certificate, &context, NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(certificate, &context, NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(certificate, &context, NID_ext_key_usage,
                    request.server ? "serverAuth,clientAuth" : "clientAuth") ||
      !AddExtension(certificate, &context, NID_subject_key_identifier, "hash") ||
      !AddExtension(certificate, &context, NID_authority_key_identifier, "keyid:always") ||
      X509_sign(certificate, &ca_key, EVP_sha256()) <= 0) {
    return CertificateOpenSslError();
  }
  return made;
}

}  // namespace assay::pki
