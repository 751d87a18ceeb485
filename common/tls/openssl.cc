#include "common/tls/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/message.h"

namespace assay::tls {
namespace {

using StackPtr = std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * stack) {
                                   sk_X509_free(stack);  // the certificates belong to others
                                 })>;

// Without it OpenSSL asks for a pass phrase on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

BioPtr Reader(absl::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

absl::StatusOr<std::string> Content(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);  // NOLINT(google-runtime-int)
  return std::string(data, static_cast<size_t>(size));
}

absl::Status Failed() {
  return Error(absl::StatusCode::kInternal, "identity.openssl", {{"detail", TakeOpenSslError()}});
}

// A PEM label ("CERTIFICATE") is in the text; tells "there is none" from "it is damaged".
bool HasBlock(absl::string_view pem, absl::string_view label) {
  return pem.find(absl::StrCat("-----BEGIN ", label)) != absl::string_view::npos;
}

}  // namespace

std::string TakeOpenSslError() {
  const char* data = nullptr;
  int flags = 0;
  unsigned long code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags);  // NOLINT
  std::string text = "unknown error";
  if (code != 0) {
    const char* reason = ERR_reason_error_string(code);
    text = reason != nullptr ? std::string(reason) : absl::StrCat("error ", absl::Hex(code));
    if ((flags & ERR_TXT_STRING) != 0 && data != nullptr && *data != '\0') {
      absl::StrAppend(&text, " (", data, ")");
    }
  }
  ERR_clear_error();
  return text;
}

absl::StatusOr<KeyPtr> ParseKey(absl::string_view pem) {
  BioPtr bio = Reader(pem);
  if (bio == nullptr) return Failed();
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (key == nullptr) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.no_key", {{"where", "PEM"}});
  }
  return key;
}

absl::StatusOr<std::vector<CertificatePtr>> ParseCertificates(absl::string_view pem) {
  BioPtr bio = Reader(pem);
  if (bio == nullptr) return Failed();
  std::vector<CertificatePtr> certificates;
  while (true) {
    CertificatePtr next(PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr));
    if (next != nullptr) {
      certificates.push_back(std::move(next));
      continue;
    }
    const bool end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    std::string detail = TakeOpenSslError();
    if (end) break;
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_certificate",
                 {{"where", "PEM"}, {"detail", detail}});
  }
  if (certificates.empty()) {
    if (HasBlock(pem, "CERTIFICATE")) {
      return Error(absl::StatusCode::kInvalidArgument, "identity.bad_certificate",
                   {{"where", "PEM"}, {"detail", "truncated"}});
    }
    return Error(absl::StatusCode::kInvalidArgument, "identity.no_certificate", {{"where", "PEM"}});
  }
  return certificates;
}

absl::StatusOr<std::string> CertificateToPem(const X509& certificate) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), &certificate) != 1) return Failed();
  return Content(bio.get());
}

absl::StatusOr<std::string> KeyToPem(const EVP_PKEY& key) {
  BioPtr bio(BIO_new(BIO_s_secmem()));
  if (bio == nullptr ||
      PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed();
  }
  return Content(bio.get());
}

std::string FingerprintOf(const X509& certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (X509_digest(&certificate, EVP_sha256(), digest, &size) != 1) {
    ERR_clear_error();
    return "";
  }
  return absl::StrCat("sha256:", absl::BytesToHexString(absl::string_view(
                                     reinterpret_cast<const char*>(digest), size)));
}

absl::StatusOr<absl::Time> FromAsn1(const ASN1_TIME* time) {
  std::tm parts = {};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) {
    return Error(absl::StatusCode::kInvalidArgument, "identity.bad_certificate",
                 {{"where", "PEM"}, {"detail", TakeOpenSslError()}});
  }
  return absl::FromTM(parts, absl::UTCTimeZone());
}

int VerifyChain(X509& leaf, const std::vector<CertificatePtr>& others, X509& ca) {
  StorePtr store(X509_STORE_new());
  StackPtr untrusted(sk_X509_new_null());
  StoreContextPtr context(X509_STORE_CTX_new());
  int result = X509_V_ERR_OUT_OF_MEM;
  if (store != nullptr && untrusted != nullptr && context != nullptr) {
    bool ready = X509_STORE_add_cert(store.get(), &ca) == 1;
    for (const CertificatePtr& other : others) {
      ready = ready && sk_X509_push(untrusted.get(), other.get()) > 0;
    }
    ready = ready && X509_STORE_CTX_init(context.get(), store.get(), &leaf, untrusted.get()) == 1 &&
            X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(context.get()),
                                        X509_V_FLAG_NO_CHECK_TIME) == 1;
    if (ready) {
      X509_verify_cert(context.get());
      result = X509_STORE_CTX_get_error(context.get());
    }
  }
  ERR_clear_error();
  return result;
}

}  // namespace assay::tls
