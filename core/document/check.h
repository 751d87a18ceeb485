// What makes a document meaningful beyond its schema. Holds for documents that were read from YAML
// and for those that came by RPC.
#ifndef ASSAY_CORE_DOCUMENT_CHECK_H_
#define ASSAY_CORE_DOCUMENT_CHECK_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "assay/v1/model.pb.h"

namespace assay::document {

// The `at` of an error about the field at `path` ("probes[1].icmp.count"; "" is the document):
// "plan.yaml:12:7: ".
using Locate = std::function<std::string(const std::string& path)>;

// INVALID_ARGUMENT for the first thing that is wrong:
// - required fields and oneofs that are empty, enumerators that don't exist, negative durations,
//   overlong text and lists;
// - names, host names and addresses, time zones, ports, ranges of numbers;
// - within a plan: times and dates of windows, windows that open twice at one time, a peak and an
//   off-peak window of one zone that are open together; windows, vantages and probes that are named
//   but not there; names used twice; a probe from vantages in a plan without any;
// - criteria: metric, threshold in the metric's unit, a statistic that the metric has, confidence
// in
//   (0.5, 1), and in a plan that some probe yields the metric.
absl::Status Check(const v1::Document& document, const Locate& locate);

// The same with "plan hk-route, probes[1].icmp.count: " as `at`.
absl::Status Check(const v1::Document& document);

// Criteria of a profile, against the plan that uses it: that they name windows, vantages and probes
// of the plan, and that some probe yields their metrics.
absl::Status CheckAgainstPlan(const v1::Profile& profile, const v1::Plan& plan);

// "server", "vantage", ...; and the name of the message inside. "" for an empty document.
std::string KindOf(const v1::Document& document);
std::string NameOf(const v1::Document& document);

// 1 to 63 of letters, digits, '-', '_' and '.', the first a letter or digit.
bool IsName(absl::string_view text);

// A host name (RFC 1123, underscores allowed) or an IPv4 or IPv6 address, without brackets, port or
// zone.
bool IsHost(absl::string_view text);

}  // namespace assay::document

#endif  // ASSAY_CORE_DOCUMENT_CHECK_H_
