#include "agent/probe/service/certificate_store.h"

#include <curl/curl.h>
#include <openssl/err.h>
#include <unistd.h>

#include <string>

#include "common/base/message.h"

namespace assay::agent::service {
namespace {

absl::Status Unreadable(const std::string& path) {
  char text[256] = "";
  ERR_error_string_n(ERR_peek_last_error(), text, sizeof text);
  ERR_clear_error();
  return Error(absl::StatusCode::kFailedPrecondition, "probe.certificate_store",
               {{"path", path}, {"detail", text}});
}

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

absl::StatusOr<std::shared_ptr<X509_STORE>> LoadCertificateStore(
    const EnvironmentLookup& environment) {
  std::string file = environment("CURL_CA_BUNDLE").value_or("");
  if (file.empty()) file = environment("SSL_CERT_FILE").value_or("");
  std::string directory = environment("SSL_CERT_DIR").value_or("");
  if (file.empty() && directory.empty()) {
    const curl_version_info_data* built_in = curl_version_info(CURLVERSION_NOW);
    file = OrEmpty(built_in->cainfo);
    directory = OrEmpty(built_in->capath);
    // One of the two is enough of a system's store.
    if (access(file.c_str(), R_OK) != 0 && access(directory.c_str(), R_OK) == 0) file.clear();
  }
  std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
  if (store == nullptr) return Unreadable(file);
  if (!file.empty() && X509_STORE_load_file(store.get(), file.c_str()) != 1) {
    return Unreadable(file);
  }
  if (!directory.empty() && X509_STORE_load_path(store.get(), directory.c_str()) != 1) {
    return Unreadable(directory);
  }
  // As libcurl does: a pinned intermediate or a self-signed leaf in the store is trusted.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
  return store;
}

}  // namespace assay::agent::service
