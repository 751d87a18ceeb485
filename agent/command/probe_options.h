// From the words of a command line to a probe.
#ifndef ASSAY_AGENT_COMMAND_PROBE_OPTIONS_H_
#define ASSAY_AGENT_COMMAND_PROBE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/model.pb.h"

namespace assay::command {

// As typed; empty: not given.
struct ProbeWords {
  std::string kind;  // "icmp", "tcp", "http"
  std::string target;
  std::string port;
  std::string count;
  std::string interval;
  std::string timeout;
  bool ipv4 = false;
  bool ipv6 = false;
  std::string payload;                     // icmp
  std::string dscp;                        // icmp
  bool insecure = false;                   // http
  std::string host_name;                   // http
  std::string max_body;                    // http
  std::vector<std::string> expect_status;  // http
};

struct HandProbe {
  v1::Probe probe;
  std::string shown_target;  // "192.0.2.1:22", the URL
  std::string host;          // what the guard is asked about
};

// INVALID_ARGUMENT where a word makes no sense; `blamed` is then the option it was given for, where
// there is one ("--count").
absl::StatusOr<HandProbe> MakeHandProbe(const ProbeWords& words, std::string* blamed);

}  // namespace assay::command

#endif  // ASSAY_AGENT_COMMAND_PROBE_OPTIONS_H_
