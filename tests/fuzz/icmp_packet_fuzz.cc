// Packets from the network, as raw and datagram sockets deliver them. The first byte chooses the
// version of IP.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/probe/route/echo_session.h"
#include "agent/probe/route/icmp_packet.h"

using namespace assay::agent::route;  // NOLINT(google-build-using-namespace): a program of its own

namespace {

constexpr Identifier kId{0x1234};
constexpr uint64_t kCookie = 0x0102030405060708;

// A session that has sent eight requests to 192.0.2.7 or 2001:db8::7.
EchoSession SentSession(IpVersion version) {
  IpAddress target{.version = version, .bytes = {192, 0, 2, 7}};
  if (version == IpVersion::kV6)
    target.bytes = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
  EchoSession session({.count = 8, .payload_bytes = 56}, target, kId, kCookie, 1, 0);
  for (int i = 0; i < 8; ++i) session.OnSent(i);
  return session;
}

void Check(IpVersion version, Bytes message) {
  IcmpMessage parsed = ParseIcmp(version, message);
  if (parsed.reply && parsed.error) std::abort();
  EchoSession session = SentSession(version);
  if (parsed.reply) {
    Bytes payload = parsed.reply->payload;
    if (payload.size() + kIcmpHeaderBytes != message.size()) std::abort();
    session.OnReply(session.target(), *parsed.reply, {.user_ns = 100});
    session.OnReply(session.target(), *parsed.reply, {.user_ns = 101, .kernel_ns = 99}, true);
  }
  if (parsed.error) session.OnError(*parsed.error, parsed.error->quoted_destination.ToString());
  EchoSession::Outcome outcome = session.Finish(INT64_C(10'000'000'000), 0);
  if (outcome.evidence.rtt_ns_size() != 8) std::abort();
  if (outcome.evidence.duplicated_requests() > outcome.evidence.duplicates()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  IpVersion version = data[0] % 2 == 0 ? IpVersion::kV4 : IpVersion::kV6;
  Bytes packet(data + 1, size - 1);
  Check(version, packet);
  if (version == IpVersion::kV4) Check(version, StripIpv4Header(packet));
  ParseQuotedEcho(version, packet);
  FindEchoRequest(version, packet, [](uint64_t cookie) { return cookie == kCookie; });
  return 0;
}
