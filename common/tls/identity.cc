#include "common/tls/identity.h"

#include <openssl/err.h>

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"
#include "common/files/files.h"
#include "common/tls/openssl.h"

namespace assay::tls {
namespace {

// An identity is a few kilobytes; more is some other file.
constexpr size_t kMaxIdentityBytes = 1 << 20;

absl::Status IdentityOpenSslError() {
  return Error(absl::StatusCode::kInternal, "identity.openssl", {{"detail", TakeOpenSslError()}});
}

std::string FirstUri(const X509& certificate) {
  NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                       static_cast<size_t>(ASN1_STRING_length(uri)));
  }
  return "";
}

absl::StatusOr<std::string> SerialOf(const X509& certificate) {
  BignumPtr number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(&certificate), nullptr));
  if (number == nullptr) return IdentityOpenSslError();
  char* hex = BN_bn2hex(number.get());
  if (hex == nullptr) return IdentityOpenSslError();
  std::string serial = absl::AsciiStrToLower(hex);
  OPENSSL_free(hex);
  return serial;
}

// The same error, naming the file instead of "PEM".
absl::Status About(const std::string& path, const absl::Status& status) {
  std::optional<v1::Message> message = MessageOf(status);
  if (!message.has_value()) return status;
  (*message->mutable_args())["where"] = path;
  return ErrorFromMessage(status.code(), *message);
}

absl::Status Invalid(absl::string_view id) {
  return Error(absl::StatusCode::kInvalidArgument, id, {{"where", "PEM"}});
}

}  // namespace

absl::StatusOr<std::string> GenerateKey() {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return IdentityOpenSslError();
  return KeyToPem(*key);
}

absl::StatusOr<std::string> MakeCsr(absl::string_view key_pem) {
  ASSAY_ASSIGN_OR_RETURN(KeyPtr key, ParseKey(key_pem));
  RequestPtr request(X509_REQ_new());
  if (request == nullptr || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) <= 0) {
    return IdentityOpenSslError();
  }
  unsigned char* der = nullptr;
  int size = i2d_X509_REQ(request.get(), &der);
  if (size < 0) return IdentityOpenSslError();
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

absl::StatusOr<CertificateInfo> ReadCertificate(absl::string_view pem) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> certificates, ParseCertificates(pem));
  const X509& leaf = *certificates.front();
  CertificateInfo info;
  ASSAY_ASSIGN_OR_RETURN(info.serial, SerialOf(leaf));
  ASSAY_ASSIGN_OR_RETURN(info.not_before, FromAsn1(X509_get0_notBefore(&leaf)));
  ASSAY_ASSIGN_OR_RETURN(info.not_after, FromAsn1(X509_get0_notAfter(&leaf)));
  info.uri = FirstUri(leaf);
  info.sha256 = FingerprintOf(leaf);
  return info;
}

absl::Status CheckIdentity(const Identity& identity) {
  ASSAY_ASSIGN_OR_RETURN(KeyPtr key, ParseKey(identity.key_pem));
  ASSAY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> chain, ParseCertificates(identity.chain_pem));
  ASSAY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> roots, ParseCertificates(identity.ca_pem));
  X509& ca = *roots.front();
  if (roots.size() != 1 || X509_check_ca(&ca) == 0 || chain.size() < 2 ||
      X509_cmp(chain.back().get(), &ca) != 0) {
    ERR_clear_error();
    return Invalid("identity.chain_without_ca");
  }
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return Invalid("identity.key_mismatch");
  }
  if (int reason = VerifyChain(*chain.front(), chain, ca); reason != X509_V_OK) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.chain_broken",
                 {{"where", "PEM"}, {"detail", X509_verify_cert_error_string(reason)}});
  }
  return absl::OkStatus();
}

absl::StatusOr<Identity> ParseIdentity(absl::string_view pem) {
  ASSAY_ASSIGN_OR_RETURN(KeyPtr key, ParseKey(pem));
  ASSAY_ASSIGN_OR_RETURN(std::vector<CertificatePtr> chain, ParseCertificates(pem));
  Identity identity;
  ASSAY_ASSIGN_OR_RETURN(identity.key_pem, KeyToPem(*key));
  for (const CertificatePtr& certificate : chain) {
    ASSAY_ASSIGN_OR_RETURN(identity.ca_pem, CertificateToPem(*certificate));
    identity.chain_pem += identity.ca_pem;
  }
  ASSAY_RETURN_IF_ERROR(CheckIdentity(identity));
  return identity;
}

absl::StatusOr<Identity> LoadIdentity(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(std::string pem, files::Read(path, kMaxIdentityBytes));
  absl::StatusOr<Identity> identity = ParseIdentity(pem);
  OPENSSL_cleanse(pem.data(), pem.size());
  if (!identity.ok()) return About(path, identity.status());
  return identity;
}

absl::Status SaveIdentity(const std::string& path, const Identity& identity) {
  if (absl::Status valid = CheckIdentity(identity); !valid.ok()) return About(path, valid);
  return files::WriteAtomically(path, absl::StrCat(identity.key_pem, identity.chain_pem), 0600);
}

}  // namespace assay::tls
