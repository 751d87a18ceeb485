// Runs the HTTP probe and unpacks what it measured.
#ifndef ASSAY_TESTS_AGENT_SERVICE_PROBE_HARNESS_H_
#define ASSAY_TESTS_AGENT_SERVICE_PROBE_HARNESS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "agent/probe/service/service_probes.h"
#include "common/base/proto_time.h"
#include "core/evidence/derive.h"

namespace assay::agent::service {

// Takes proxies and certificate stores out of the environment, and restores what a test sets.
class CleanEnvironment {
 public:
  CleanEnvironment() {
    for (const char* name : kNames) unsetenv(name);
  }
  ~CleanEnvironment() {
    for (const char* name : kNames) unsetenv(name);
  }

 private:
  static constexpr const char* kNames[] = {
      "http_proxy", "https_proxy", "HTTPS_PROXY",    "all_proxy",     "ALL_PROXY",
      "no_proxy",   "NO_PROXY",    "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"};
};

inline ProbeRequest HttpTo(const std::string& host, uint16_t port) {
  ProbeRequest request;
  v1::HttpProbe& http = *request.probe.mutable_http();
  http.set_target(host);
  http.set_port(port);
  http.set_count(1);
  *http.mutable_interval() = ToProto(absl::Milliseconds(1));
  *http.mutable_timeout() = ToProto(absl::Seconds(20));
  request.time_limit = absl::Seconds(60);
  return request;
}

inline v1::Result RunHttp(const ProbeRequest& request,
                          const std::atomic<bool>* cancelled = nullptr) {
  ProbeControl control;
  control.cancelled = cancelled;
  return MakeHttpProbe()->Run(request, control);
}

inline v1::HttpEvidence EvidenceOf(const v1::Result& result) {
  EXPECT_EQ(result.outcome(), v1::OUTCOME_OK) << result.ShortDebugString();
  absl::StatusOr<v1::Evidence> evidence = evidence::Unpack(result.evidence_zstd());
  EXPECT_TRUE(evidence.ok()) << evidence.status();
  return evidence.ok() ? evidence->http() : v1::HttpEvidence();
}

// Of a probe with one request.
inline v1::HttpSample OnlySample(const ProbeRequest& request) {
  v1::HttpEvidence evidence = EvidenceOf(RunHttp(request));
  EXPECT_EQ(evidence.samples_size(), 1);
  return evidence.samples_size() > 0 ? evidence.samples(0) : v1::HttpSample();
}

}  // namespace assay::agent::service

#endif  // ASSAY_TESTS_AGENT_SERVICE_PROBE_HARNESS_H_
