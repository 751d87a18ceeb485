// Running a probe in a test and reading what it found.
#ifndef ASSAY_TESTS_AGENT_ROUTE_PROBE_TESTING_H_
#define ASSAY_TESTS_AGENT_ROUTE_PROBE_TESTING_H_

#include <map>
#include <string>

#include "agent/probe/probe.h"
#include "core/evidence/derive.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace assay::testing {

// A guard that refuses one address.
class RefusesAddress : public guard::Guard {
 public:
  explicit RefusesAddress(std::string address) : address_(std::move(address)) {}
  absl::Status CheckHost(absl::string_view, const std::vector<std::string>&) const override {
    return absl::OkStatus();
  }
  absl::Status CheckAddress(absl::string_view, absl::string_view address) const override {
    if (address != address_) return absl::OkStatus();
    return absl::PermissionDeniedError("refused by the test");
  }
  absl::Status CheckProbe(absl::string_view) const override { return absl::OkStatus(); }

 private:
  std::string address_;
};

inline agent::ProbeRequest Request(const std::string& probe_text) {
  agent::ProbeRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(probe_text, &request.probe));
  return request;
}

inline v1::Evidence EvidenceOf(const v1::Result& result) {
  auto evidence = evidence::Unpack(result.evidence_zstd());
  EXPECT_TRUE(evidence.ok()) << evidence.status() << " " << result.ShortDebugString();
  return evidence.value_or(v1::Evidence());
}

// Also checks that the evidence yields metrics.
inline nlohmann::ordered_json SummaryOf(const v1::Result& result) {
  v1::Evidence evidence = EvidenceOf(result);
  EXPECT_TRUE(evidence::DeriveMetrics(evidence).ok());
  auto summary = evidence::Summarise(evidence);
  EXPECT_TRUE(summary.ok()) << summary.status();
  return summary.value_or(nlohmann::ordered_json());
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_ROUTE_PROBE_TESTING_H_
