#include "tests/pathsim/path/event.h"

namespace assay::pathsim {

absl::string_view Name(Direction direction) {
  return direction == Direction::kForward ? "forward" : "reverse";
}

absl::string_view Name(What what) {
  constexpr const char* kNames[] = {"sent",       "dropped",    "answered",  "unanswered",
                                    "duplicated", "fragmented", "delivered", "changed"};
  return kNames[static_cast<int>(what)];
}

absl::string_view Name(Reason reason) {
  constexpr const char* kNames[] = {"none",
                                    "loss",
                                    "queue",
                                    "ttl",
                                    "mtu",
                                    "local",
                                    "malformed",
                                    "link_local",
                                    "host_queue",
                                    "overload",
                                    "silent",
                                    "rate_limit",
                                    "no_address",
                                    "not_answerable",
                                    "time_exceeded",
                                    "too_big",
                                    "port_unreachable",
                                    "echo_reply"};
  return kNames[static_cast<int>(reason)];
}

PacketFields FieldsOf(const Header& header, ByteView packet) {
  PacketFields fields{header, std::nullopt};
  if (auto transport = ParseTransport(header, packet); transport.ok()) {
    fields.transport = *transport;
  }
  return fields;
}

}  // namespace assay::pathsim
