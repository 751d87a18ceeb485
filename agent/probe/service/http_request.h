// One HTTP request on a new connection, by libcurl.
#ifndef ASSAY_AGENT_PROBE_SERVICE_HTTP_REQUEST_H_
#define ASSAY_AGENT_PROBE_SERVICE_HTTP_REQUEST_H_

#include <openssl/x509_vfy.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "agent/probe/service/http_proxy.h"
#include "agent/probe/service/http_target.h"
#include "assay/v1/model.pb.h"
#include "assay/v1/result.pb.h"

namespace assay::agent::service {

struct HttpRequest {
  const HttpTarget* target = nullptr;
  const v1::HttpProbe* parameters = nullptr;
  const Proxy* proxy = nullptr;
  // Numeric address that is connected to, and no other; empty: the proxy resolves the name.
  std::string address;
  // Of this request, the time already spent excluded.
  absl::Duration timeout;
  // Null where certificates are not checked.
  X509_STORE* certificates = nullptr;
};

struct HttpReply {
  // Times from the moment PerformHttpRequest was called.
  v1::HttpSample sample;
  int64_t certificate_not_after_s = 0;  // of the server's certificate, also of a refused one
  // `stop` said so: the sample means nothing.
  bool stopped = false;
};

// Asks `stop` at least every 50 ms. Thread-safe.
HttpReply PerformHttpRequest(const HttpRequest& request, const std::function<bool()>& stop);

// "7.88.1", "OpenSSL/3.0.15".
std::string CurlVersion();
std::string CurlTlsVersion();

}  // namespace assay::agent::service

#endif  // ASSAY_AGENT_PROBE_SERVICE_HTTP_REQUEST_H_
