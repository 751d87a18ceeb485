#include "agent/probe/service/http_request.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/guard/address.h"
#include "common/build/version.h"
#include "common/tls/sigpipe_block.h"

namespace assay::agent::service {
namespace {

constexpr int kStopPollMs = 50;

struct SlistDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistDeleter>;

// What the callbacks see of one request.
struct Transfer {
  const HttpRequest* request = nullptr;
  uint64_t body_bytes = 0;
  bool body_limited = false;
  bool strayed = false;  // curl wanted another address than the one that the guard has seen
  int64_t certificate_not_after_s = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  int64_t tls_start_ns = 0;  // the first handshake began: a TCP connection is there
};

size_t TakeBody(char*, size_t size, size_t count, void* user) {
  auto* transfer = static_cast<Transfer*>(user);
  uint64_t arrived = size * count;
  uint64_t room = transfer->request->parameters->max_body_bytes() - transfer->body_bytes;
  if (arrived <= room) {
    transfer->body_bytes += arrived;
    return arrived;
  }
  transfer->body_bytes += room;
  transfer->body_limited = true;
  return 0;  // ends the transfer with CURLE_WRITE_ERROR
}

std::optional<guard::IpAddress> AddressOf(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
              sizeof text);
  }
  return guard::ParseIpAddress(text);
}

curl_socket_t OpenSocket(void* user, curlsocktype, curl_sockaddr* address) {
  auto* transfer = static_cast<Transfer*>(user);
  if (transfer->request->proxy->url.empty() &&
      AddressOf(&address->addr) != guard::ParseIpAddress(transfer->request->address)) {
    transfer->strayed = true;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// CURLINFO_CERTINFO has nothing to say about a certificate that was refused, which is the one whose
// end people ask for; so it is read where OpenSSL verifies it.
int SeeCertificate(int verified, X509_STORE_CTX* store) {
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* transfer = static_cast<Transfer*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  X509* leaf = X509_STORE_CTX_get0_cert(store);
  tm end{};
  if (leaf != nullptr && ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &end) == 1) {
    transfer->certificate_not_after_s = timegm(&end);
  }
  return verified;
}

CURLcode PrepareTls(CURL*, void* context, void* user) {
  auto* ssl_context = static_cast<SSL_CTX*>(context);
  auto* transfer = static_cast<Transfer*>(user);
  if (transfer->tls_start_ns == 0) {
    transfer->tls_start_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now() - transfer->start)
                                 .count();
  }
  // With an HTTPS proxy there are two handshakes; the server's is the second.
  transfer->certificate_not_after_s = 0;
  X509_STORE* certificates = transfer->request->certificates;
  if (certificates != nullptr) SSL_CTX_set1_cert_store(ssl_context, certificates);
  SSL_CTX_set_app_data(ssl_context, user);
  SSL_CTX_set_verify(ssl_context, SSL_CTX_get_verify_mode(ssl_context), SeeCertificate);
  return CURLE_OK;
}

struct OutcomeOfCode {
  CURLcode code;
  v1::HttpOutcome outcome;
};
constexpr OutcomeOfCode kOutcomes[] = {
    {CURLE_OK, v1::HTTP_OUTCOME_OK},
    {CURLE_COULDNT_RESOLVE_HOST, v1::HTTP_OUTCOME_NAME_LOOKUP},
    {CURLE_COULDNT_RESOLVE_PROXY, v1::HTTP_OUTCOME_NAME_LOOKUP},
    {CURLE_COULDNT_CONNECT, v1::HTTP_OUTCOME_CONNECT},
    {CURLE_PROXY, v1::HTTP_OUTCOME_CONNECT},
    {CURLE_SSL_CONNECT_ERROR, v1::HTTP_OUTCOME_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, v1::HTTP_OUTCOME_TLS},
    {CURLE_SSL_CACERT_BADFILE, v1::HTTP_OUTCOME_TLS},
    {CURLE_SSL_CERTPROBLEM, v1::HTTP_OUTCOME_TLS},
    {CURLE_SSL_CIPHER, v1::HTTP_OUTCOME_TLS},
    {CURLE_SSL_CLIENTCERT, v1::HTTP_OUTCOME_TLS},
    {CURLE_SSL_ISSUER_ERROR, v1::HTTP_OUTCOME_TLS},
    {CURLE_OPERATION_TIMEDOUT, v1::HTTP_OUTCOME_TIMED_OUT},
    {CURLE_PARTIAL_FILE, v1::HTTP_OUTCOME_TRUNCATED},
};

// A connection that breaks has the same code in every phase: the phase decides.
v1::HttpOutcome OutcomeOfBreak(bool secure, long connect_status, const v1::HttpSample& sample) {
  if (connect_status >= 300) return v1::HTTP_OUTCOME_CONNECT;  // the proxy would not
  if (sample.status() != 0) return v1::HTTP_OUTCOME_TRUNCATED;
  if (secure && sample.connect_ns() > 0 && sample.tls_ns() == 0) return v1::HTTP_OUTCOME_TLS;
  return v1::HTTP_OUTCOME_OTHER;
}

bool StatusExpected(const v1::HttpProbe& parameters, uint32_t status) {
  const auto& expected = parameters.expect_status();
  if (expected.empty()) return status >= 200 && status < 400;
  return std::find(expected.begin(), expected.end(), status) != expected.end();
}

int64_t TimeNs(CURL* easy, CURLINFO info) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(easy, info, &microseconds);
  return std::max<int64_t>(microseconds, 0) * 1000;
}

void ReadTransfer(CURL* easy, CURLcode code, const char* error, const Transfer& transfer,
                  v1::HttpSample& sample) {
  sample.set_name_lookup_ns(TimeNs(easy, CURLINFO_NAMELOOKUP_TIME_T));
  sample.set_connect_ns(TimeNs(easy, CURLINFO_CONNECT_TIME_T));
  // libcurl 7.88 forgets the connect when the handshake after it fails.
  if (sample.connect_ns() == 0) sample.set_connect_ns(transfer.tls_start_ns);
  sample.set_tls_ns(TimeNs(easy, CURLINFO_APPCONNECT_TIME_T));
  sample.set_total_ns(TimeNs(easy, CURLINFO_TOTAL_TIME_T));
  long status = 0;
  long connect_status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &connect_status);
  sample.set_status(static_cast<uint32_t>(status));
  // Without an answer curl's start of transfer is not a first byte.
  if (status != 0) sample.set_first_byte_ns(TimeNs(easy, CURLINFO_STARTTRANSFER_TIME_T));
  sample.set_body_bytes(transfer.body_bytes);
  sample.set_body_limited(transfer.body_limited);

  if (code == CURLE_WRITE_ERROR && transfer.body_limited) code = CURLE_OK;
  auto known = std::find_if(std::begin(kOutcomes), std::end(kOutcomes),
                            [code](const OutcomeOfCode& entry) { return entry.code == code; });
  sample.set_outcome(known != std::end(kOutcomes) ? known->outcome
                                                  : OutcomeOfBreak(transfer.request->target->secure,
                                                                   connect_status, sample));
  if (code != CURLE_OK) {
    sample.set_error(*error != '\0' ? error : curl_easy_strerror(code));
  } else if (!StatusExpected(*transfer.request->parameters, sample.status())) {
    sample.set_outcome(v1::HTTP_OUTCOME_STATUS);
    sample.set_error(absl::StrCat("The server answered with status ", status));
  }
}

class Handles {
 public:
  Handles() : easy_(curl_easy_init()), multi_(curl_multi_init()) {}
  ~Handles() {
    if (added_) curl_multi_remove_handle(multi_, easy_);
    curl_easy_cleanup(easy_);
    curl_multi_cleanup(multi_);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  bool ok() const { return easy_ != nullptr && multi_ != nullptr; }
  CURL* easy() { return easy_; }

  // Until done or told to stop; nothing in the latter case.
  std::optional<CURLcode> Run(const std::function<bool()>& stop) {
    if (curl_multi_add_handle(multi_, easy_) != CURLM_OK) return CURLE_FAILED_INIT;
    added_ = true;
    while (true) {
      int running = 0;
      if (curl_multi_perform(multi_, &running) != CURLM_OK) return CURLE_FAILED_INIT;
      if (running == 0) break;
      if (stop()) return std::nullopt;
      curl_multi_poll(multi_, nullptr, 0, kStopPollMs, nullptr);
    }
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi_, &left);
    return message != nullptr ? message->data.result : CURLE_FAILED_INIT;
  }

 private:
  CURL* easy_;
  CURLM* multi_;
  bool added_ = false;
};

std::string Bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
}

long CurlFamily(v1::AddressFamily family) {
  if (family == v1::ADDRESS_FAMILY_IPV4) return CURL_IPRESOLVE_V4;
  return family == v1::ADDRESS_FAMILY_IPV6 ? CURL_IPRESOLVE_V6 : CURL_IPRESOLVE_WHATEVER;
}

void SetOptions(CURL* easy, Transfer& transfer, char* error) {
  const HttpRequest& request = *transfer.request;
  curl_easy_setopt(easy, CURLOPT_URL, request.target->url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, absl::StrCat("assay/", kVersion).c_str());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  // Leave a proxy's name look-up behind instead of waiting for its thread.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                   std::max<long>(1, absl::ToInt64Milliseconds(
                                         absl::Ceil(request.timeout, absl::Milliseconds(1)))));
  curl_easy_setopt(easy, CURLOPT_IPRESOLVE, CurlFamily(request.parameters->family()));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, OpenSocket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, PrepareTls);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &transfer);
  if (request.parameters->insecure()) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  // The store comes with PrepareTls; curl has none to read.
  curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  // Chosen already; "" keeps curl from choosing again.
  curl_easy_setopt(easy, CURLOPT_PROXY, request.proxy->url.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
}

// Where the connection goes: the pinned address, or through a proxy that resolves names, the host
// that was allowed rather than the one that the URL names.
void Direct(CURL* easy, const HttpRequest& request, Slist& list) {
  const HttpTarget& target = *request.target;
  if (!request.address.empty()) {
    if (guard::ParseIpAddress(target.url_host).has_value() && request.address == target.url_host) {
      return;
    }
    list.reset(curl_slist_append(
        nullptr, absl::StrCat("::", Bracketed(request.address), ":", target.port).c_str()));
  } else if (target.url_host != target.lookup_host) {
    list.reset(curl_slist_append(
        nullptr, absl::StrCat("::", Bracketed(target.lookup_host), ":", target.port).c_str()));
  } else {
    return;
  }
  curl_easy_setopt(easy, CURLOPT_CONNECT_TO, list.get());
}

}  // namespace

HttpReply PerformHttpRequest(const HttpRequest& request, const std::function<bool()>& stop) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  HttpReply reply;
  tls::SigpipeBlock no_sigpipe;  // CURLOPT_NOSIGNAL leaves that to us
  Transfer transfer{.request = &request};
  char error[CURL_ERROR_SIZE] = "";
  Slist connect_to;
  Handles handles;
  if (initialised != CURLE_OK || !handles.ok()) {
    reply.sample.set_outcome(v1::HTTP_OUTCOME_OTHER);
    reply.sample.set_error("libcurl could not be initialised");
    return reply;
  }
  SetOptions(handles.easy(), transfer, error);
  Direct(handles.easy(), request, connect_to);
  std::optional<CURLcode> code = handles.Run(stop);
  if (!code.has_value()) {
    reply.stopped = true;
    return reply;
  }
  ReadTransfer(handles.easy(), *code, error, transfer, reply.sample);
  if (transfer.strayed) {
    reply.sample.set_outcome(v1::HTTP_OUTCOME_OTHER);
    reply.sample.set_error("curl chose an address that was not allowed");
  }
  reply.certificate_not_after_s = transfer.certificate_not_after_s;
  return reply;
}

std::string CurlVersion() { return curl_version_info(CURLVERSION_NOW)->version; }

std::string CurlTlsVersion() {
  const char* version = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return version != nullptr ? version : "";
}

}  // namespace assay::agent::service
