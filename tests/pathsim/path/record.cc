#include "tests/pathsim/path/record.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"

namespace assay::pathsim {
namespace {

// Names of routers come from people; everything else that is written is plain.
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(static_cast<int>(c), absl::kZeroPad4));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

void AppendFields(const PacketFields& fields, std::string& text) {
  const Header& header = fields.header;
  absl::StrAppend(&text, ",\"source\":\"", AddressText(header.source), "\",\"destination\":\"",
                  AddressText(header.destination), "\",\"protocol\":", header.protocol,
                  ",\"ttl\":", header.ttl, ",\"traffic_class\":", header.traffic_class,
                  ",\"bytes\":", header.total_bytes, ",\"identification\":", header.identification);
  if (!fields.transport) return;
  const Transport& transport = *fields.transport;
  if (header.protocol == kUdp || header.protocol == kTcp) {
    absl::StrAppend(&text, ",\"source_port\":", transport.source_port,
                    ",\"destination_port\":", transport.destination_port);
  } else {
    absl::StrAppend(&text, ",\"icmp_type\":", transport.icmp_type,
                    ",\"icmp_code\":", transport.icmp_code, ",\"icmp_id\":", transport.icmp_id,
                    ",\"icmp_sequence\":", transport.icmp_sequence);
  }
  if (header.protocol == kTcp) {
    absl::StrAppend(&text, ",\"tcp_sequence\":", transport.tcp_sequence,
                    ",\"tcp_flags\":", transport.tcp_flags);
  }
}

}  // namespace

std::string Record::PlaceName(int place) const {
  if (place == kNearHost) return "\"near\"";
  if (place == kFarHost) return "\"far\"";
  return Quoted(scenario_.routers[static_cast<size_t>(place)].name);
}

void Record::Add(const Event& event, std::string& text) {
  ++counts_[{event.direction, event.what, event.reason, event.place}];
  if (event.what == What::kDelivered) return;
  absl::StrAppend(&text, "{\"what\":\"", Name(event.what),
                  "\",\"time_ns\":", absl::ToInt64Nanoseconds(event.time));
  if (event.what != What::kChanged) {
    absl::StrAppend(&text, ",\"packet\":", event.packet, ",\"direction\":\"", Name(event.direction),
                    "\",\"place\":", PlaceName(event.place));
  }
  if (event.ordinal != 0) absl::StrAppend(&text, ",\"ordinal\":", event.ordinal);
  if (event.reason != Reason::kNone) {
    absl::StrAppend(&text, ",\"reason\":\"", Name(event.reason), "\"");
  }
  if (event.answer != 0) absl::StrAppend(&text, ",\"answer\":", event.answer);
  if (event.fields) AppendFields(*event.fields, text);
  text += "}\n";
}

void Record::Deliver(const Delivery& delivery, absl::Duration released, std::string& text) {
  absl::Duration late = std::max(released - delivery.due, absl::ZeroDuration());
  most_late_ = std::max(most_late_, late);
  auto late_us = static_cast<uint64_t>(absl::ToInt64Microseconds(late));
  ++lateness_[std::min<size_t>(static_cast<size_t>(std::bit_width(late_us)), 31)];
  absl::StrAppend(&text, "{\"what\":\"delivered\",\"time_ns\":", absl::ToInt64Nanoseconds(released),
                  ",\"packet\":", delivery.packet, ",\"direction\":\"", Name(delivery.to),
                  "\",\"due_ns\":", absl::ToInt64Nanoseconds(delivery.due),
                  ",\"late_ns\":", absl::ToInt64Nanoseconds(released - delivery.due),
                  ",\"delay_ns\":", absl::ToInt64Nanoseconds(released - delivery.sent));
  if (delivery.about != 0) {
    absl::StrAppend(&text, ",\"about\":", delivery.about,
                    ",\"since_origin_ns\":", absl::ToInt64Nanoseconds(released - delivery.origin));
  }
  text += "}\n";
}

std::string Record::Totals(size_t in_flight) const {
  std::string text = "{\"what\":\"totals\",\"counts\":[";
  const char* separator = "";
  for (const auto& [key, count] : counts_) {
    const auto& [direction, what, reason, place] = key;
    absl::StrAppend(&text, separator, "{\"direction\":\"", Name(direction), "\",\"what\":\"",
                    Name(what), "\",\"reason\":\"", Name(reason), "\",\"place\":", PlaceName(place),
                    ",\"packets\":", count, "}");
    separator = ",";
  }
  uint64_t all = 0, so_far = 0;
  for (uint64_t count : lateness_) all += count;
  absl::StrAppend(&text, "],\"late_us_below\":{");
  separator = "";
  for (auto [name, share] : {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}}) {
    size_t at = 0;
    for (so_far = 0; at < lateness_.size(); ++at) {
      so_far += lateness_[at];
      if (static_cast<double>(so_far) >= share * static_cast<double>(all)) break;
    }
    absl::StrAppend(&text, separator, "\"", name, "\":", uint64_t{1} << at);
    separator = ",";
  }
  absl::StrAppend(&text, "},\"most_late_ns\":", absl::ToInt64Nanoseconds(most_late_),
                  ",\"in_flight\":", in_flight, "}\n");
  return text;
}

uint64_t Record::Count(Direction direction, What what, Reason reason) const {
  uint64_t count = 0;
  for (const auto& [key, packets] : counts_) {
    const auto& [its_direction, its_what, its_reason, place] = key;
    bool same = its_direction == direction && its_what == what && its_reason == reason;
    if (same) count += packets;
  }
  return count;
}

}  // namespace assay::pathsim
