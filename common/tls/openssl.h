// OpenSSL objects that free themselves, and its error queue as text. For folders that use OpenSSL
// directly; everybody else wants identity.h.
#ifndef ASSAY_COMMON_TLS_OPENSSL_H_
#define ASSAY_COMMON_TLS_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace assay::tls {

template <auto Free>
struct OpenSslDeleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BioPtr = std::unique_ptr<BIO, OpenSslDeleter<BIO_free_all>>;
using BignumPtr = std::unique_ptr<BIGNUM, OpenSslDeleter<BN_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, OpenSslDeleter<X509_REQ_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpenSslDeleter<X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, OpenSslDeleter<GENERAL_NAMES_free>>;
using StorePtr = std::unique_ptr<X509_STORE, OpenSslDeleter<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, OpenSslDeleter<X509_STORE_CTX_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;

// The oldest error in this thread's queue, in OpenSSL's words; the queue is empty afterwards.
std::string TakeOpenSslError();

// PEM text to objects. Never asks for a pass phrase: an encrypted key is an error. INVALID_ARGUMENT
// where there is none, or where one cannot be read.
absl::StatusOr<KeyPtr> ParseKey(absl::string_view pem);
absl::StatusOr<std::vector<CertificatePtr>> ParseCertificates(absl::string_view pem);

absl::StatusOr<std::string> CertificateToPem(const X509& certificate);
absl::StatusOr<std::string> KeyToPem(const EVP_PKEY& key);

// "sha256:" and 64 hex digits over the DER.
std::string FingerprintOf(const X509& certificate);

absl::StatusOr<absl::Time> FromAsn1(const ASN1_TIME* time);

// The reason why `leaf` is not issued, directly or through `others`, by `ca`; X509_V_OK where it
// is. Validity periods are not looked at: whose clock is wrong is another question.
int VerifyChain(X509& leaf, const std::vector<CertificatePtr>& others, X509& ca);

}  // namespace assay::tls

#endif  // ASSAY_COMMON_TLS_OPENSSL_H_
