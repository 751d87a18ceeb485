#include "agent/probe/route/icmp_packet.h"

#include <algorithm>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace assay::agent::route {
namespace icmp_packet_test {
namespace {

using Packet = std::vector<uint8_t>;

const EchoRequest kRequest = {
    .id = {0x1234}, .sequence = {0x0007}, .cookie = 0x0102030405060708, .index = 6};

Packet Request(IpVersion version, size_t payload_bytes = 56) {
  Packet message;
  BuildEchoRequest(version, kRequest, payload_bytes, &message);
  return message;
}

void SetChecksum(Packet* message) {
  (*message)[2] = (*message)[3] = 0;
  uint16_t sum = InternetChecksum(*message);
  (*message)[2] = static_cast<uint8_t>(sum >> 8);
  (*message)[3] = static_cast<uint8_t>(sum);
}

// The reply that an honest host gives.
Packet Reply(IpVersion version, size_t payload_bytes = 56) {
  Packet message = Request(version, payload_bytes);
  message[0] = version == IpVersion::kV4 ? 0 : 129;
  if (version == IpVersion::kV4) SetChecksum(&message);
  return message;
}

// 192.0.2.7 or 2001:db8::7 as the destination.
Packet IpHeader(IpVersion version, size_t options = 0) {
  if (version == IpVersion::kV4) {
    Packet header(20 + options);
    header[0] = static_cast<uint8_t>(0x40 | (header.size() / 4));
    header[9] = 1;
    const uint8_t to[] = {192, 0, 2, 7};
    std::copy(std::begin(to), std::end(to), header.begin() + 16);
    return header;
  }
  Packet header(40);
  header[0] = 0x60;
  header[6] = 58;
  const uint8_t to[] = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
  std::copy(std::begin(to), std::end(to), header.begin() + 24);
  return header;
}

Packet ErrorAround(IpVersion version, const Packet& quote) {
  Packet message(8);
  message[0] = version == IpVersion::kV4 ? 3 : 1;
  message[1] = 1;
  message.insert(message.end(), quote.begin(), quote.end());
  if (version == IpVersion::kV4) SetChecksum(&message);
  return message;
}

Packet Join(Packet a, const Packet& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(InternetChecksum, IsTheOneOfRfc1071) {
  // RFC 1071, section 3: the sum is ddf2, the checksum its complement.
  const Packet data = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(InternetChecksum(data), 0x220d);
  // An odd length is padded with zero.
  EXPECT_EQ(InternetChecksum(Packet{0x01}), 0xfeff);
  EXPECT_EQ(InternetChecksum({}), 0xffff);
}

TEST(BuildEchoRequest, LaysOutTheHeaderAndChecksIt) {
  Packet message = Request(IpVersion::kV4);
  ASSERT_EQ(message.size(), 64u);
  EXPECT_EQ(message[0], 8);
  EXPECT_EQ(message[1], 0);
  EXPECT_EQ(Packet(message.begin() + 4, message.begin() + 20),
            (Packet{0x12, 0x34, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 6}));
  EXPECT_EQ(InternetChecksum(message), 0);
  EXPECT_EQ(Request(IpVersion::kV6)[0], 128);
}

class ByVersion : public ::testing::TestWithParam<IpVersion> {};
INSTANTIATE_TEST_SUITE_P(All, ByVersion, ::testing::Values(IpVersion::kV4, IpVersion::kV6),
                         [](const auto& info) {
                           return info.param == IpVersion::kV4 ? "v4" : "v6";
                         });

TEST_P(ByVersion, ReplyIsReadBackForEveryPayloadSize) {
  for (size_t size : {16, 17, 23, 24, 56, 57, 1472, 65000}) {
    Packet message = Reply(GetParam(), size);
    IcmpMessage parsed = ParseIcmp(GetParam(), message);
    ASSERT_TRUE(parsed.reply) << size;
    EXPECT_EQ(parsed.reply->id, kRequest.id);
    EXPECT_EQ(parsed.reply->sequence, kRequest.sequence);
    EXPECT_TRUE(parsed.reply->checksum_ok);
    EXPECT_EQ(CookieOf(parsed.reply->payload), kRequest.cookie);
    EXPECT_EQ(IntactIndex(parsed.reply->payload, kRequest.cookie, size), kRequest.index);
  }
}

TEST_P(ByVersion, AnyChangedByteOfThePayloadIsSeen) {
  Packet message = Reply(GetParam());
  for (size_t at = kIcmpHeaderBytes; at < message.size(); ++at) {
    Packet changed = message;
    changed[at] ^= 1;
    Bytes payload = Bytes(changed).subspan(kIcmpHeaderBytes);
    EXPECT_EQ(IntactIndex(payload, kRequest.cookie, 56), std::nullopt) << at;
  }
  Bytes payload = Bytes(message).subspan(kIcmpHeaderBytes);
  EXPECT_EQ(IntactIndex(payload.first(55), kRequest.cookie, 56), std::nullopt);
  EXPECT_EQ(IntactIndex(payload, kRequest.cookie, 55), std::nullopt);
}

TEST(ParseIcmp, WrongChecksumIsReported) {
  Packet message = Reply(IpVersion::kV4);
  message[30] ^= 1;
  IcmpMessage parsed = ParseIcmp(IpVersion::kV4, message);
  ASSERT_TRUE(parsed.reply);
  EXPECT_FALSE(parsed.reply->checksum_ok);
}

TEST_P(ByVersion, OwnRequestsAndOtherTypesAreOfNoInterest) {
  for (int type = 0; type < 256; ++type) {
    Packet message = Reply(GetParam());
    message[0] = static_cast<uint8_t>(type);
    if (GetParam() == IpVersion::kV4) SetChecksum(&message);
    IcmpMessage parsed = ParseIcmp(GetParam(), message);
    EXPECT_EQ(parsed.reply.has_value(), type == (GetParam() == IpVersion::kV4 ? 0 : 129)) << type;
    EXPECT_FALSE(parsed.error) << type;
  }
}

TEST_P(ByVersion, ErrorIsMatchedByWhatItQuotes) {
  Packet request = Request(GetParam());
  Packet least = Join(IpHeader(GetParam()), Packet(request.begin(), request.begin() + 8));
  IcmpMessage parsed = ParseIcmp(GetParam(), ErrorAround(GetParam(), least));
  ASSERT_TRUE(parsed.error);
  EXPECT_EQ(parsed.error->type, GetParam() == IpVersion::kV4 ? 3 : 1);
  EXPECT_EQ(parsed.error->code, 1);
  EXPECT_EQ(parsed.error->quoted_destination.ToString(),
            GetParam() == IpVersion::kV4 ? "192.0.2.7" : "2001:db8::7");
  EXPECT_EQ(parsed.error->id, kRequest.id);
  EXPECT_EQ(parsed.error->sequence, kRequest.sequence);
  EXPECT_FALSE(parsed.error->cookie);

  parsed = ParseIcmp(GetParam(), ErrorAround(GetParam(), Join(IpHeader(GetParam()), request)));
  ASSERT_TRUE(parsed.error);
  EXPECT_EQ(parsed.error->cookie, kRequest.cookie);
}

TEST_P(ByVersion, ErrorCutAnywhereBeforeTheEndOfTheQuotedHeaderGivesNothing) {
  Packet request = Request(GetParam());
  Packet quote = Join(IpHeader(GetParam()), Packet(request.begin(), request.begin() + 8));
  for (size_t size = 0; size < quote.size(); ++size) {
    Packet cut(quote.begin(), quote.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(ParseIcmp(GetParam(), ErrorAround(GetParam(), cut)).error) << size;
  }
}

struct WrongQuote {
  const char* name;
  IpVersion version;
  std::function<void(Packet&)> change;
};

class WrongQuotes : public ::testing::TestWithParam<WrongQuote> {};

TEST_P(WrongQuotes, GiveNothing) {
  const WrongQuote& wrong = GetParam();
  Packet quote = Join(IpHeader(wrong.version), Request(wrong.version));
  ASSERT_TRUE(ParseIcmp(wrong.version, ErrorAround(wrong.version, quote)).error);
  wrong.change(quote);
  EXPECT_FALSE(ParseIcmp(wrong.version, ErrorAround(wrong.version, quote)).error);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongQuotes,
    ::testing::Values(WrongQuote{"Udp", IpVersion::kV4, [](Packet& q) { q[9] = 17; }},
                      WrongQuote{"Version", IpVersion::kV4, [](Packet& q) { q[0] = 0x65; }},
                      WrongQuote{"HeaderLengthTooSmall", IpVersion::kV4,
                                 [](Packet& q) { q[0] = 0x44; }},
                      WrongQuote{"HeaderLengthBeyondTheEnd", IpVersion::kV4,
                                 [](Packet& q) { q[0] = 0x4F, q.resize(40); }},
                      WrongQuote{"LaterFragment", IpVersion::kV4, [](Packet& q) { q[7] = 1; }},
                      WrongQuote{"EchoReply", IpVersion::kV4, [](Packet& q) { q[20] = 0; }},
                      WrongQuote{"Udp6", IpVersion::kV6, [](Packet& q) { q[6] = 17; }},
                      WrongQuote{"Version6", IpVersion::kV6, [](Packet& q) { q[0] = 0x40; }},
                      WrongQuote{"EchoReply6", IpVersion::kV6, [](Packet& q) { q[40] = 129; }},
                      WrongQuote{"ExtensionBeyondTheEnd", IpVersion::kV6,
                                 [](Packet& q) { q[6] = 60, q[41] = 255; }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ParseIcmp, ErrorWithAWrongChecksumGivesNothing) {
  Packet message =
      ErrorAround(IpVersion::kV4, Join(IpHeader(IpVersion::kV4), Request(IpVersion::kV4)));
  message[2] ^= 1;
  EXPECT_FALSE(ParseIcmp(IpVersion::kV4, message).error);
}

TEST(ParseIcmp, QuotedHeadersMayCarryOptionsAndExtensions) {
  Packet v4 = Join(IpHeader(IpVersion::kV4, 8), Request(IpVersion::kV4));
  EXPECT_TRUE(ParseIcmp(IpVersion::kV4, ErrorAround(IpVersion::kV4, v4)).error);

  Packet v6 = IpHeader(IpVersion::kV6);
  v6[6] = 44;  // first fragment of a large request
  v6 = Join(v6, {58, 0, 0, 1, 0, 0, 0, 9});
  v6 = Join(v6, Request(IpVersion::kV6));
  EXPECT_TRUE(ParseIcmp(IpVersion::kV6, ErrorAround(IpVersion::kV6, v6)).error);
  v6[43] |= 8;  // now a later one
  EXPECT_FALSE(ParseIcmp(IpVersion::kV6, ErrorAround(IpVersion::kV6, v6)).error);
}

TEST(StripIpv4Header, RefusesWhatIsNoIcmpPacket) {
  Packet packet = Join(IpHeader(IpVersion::kV4, 4), Reply(IpVersion::kV4));
  EXPECT_EQ(StripIpv4Header(packet).size(), 64u);
  for (size_t size = 0; size < 24; ++size) {
    EXPECT_TRUE(StripIpv4Header(Bytes(packet).first(size)).empty()) << size;
  }
  packet[9] = 6;
  EXPECT_TRUE(StripIpv4Header(packet).empty());
}

TEST_P(ByVersion, RequestIsFoundBehindLinkAndIpHeaders) {
  auto known = [](uint64_t cookie) { return cookie == kRequest.cookie; };
  for (size_t link : {0, 14, 18, 60}) {
    Packet packet = Join(Join(Packet(link, 8), IpHeader(GetParam())), Request(GetParam()));
    std::optional<EchoRequest> found = FindEchoRequest(GetParam(), packet, known);
    ASSERT_TRUE(found) << link;
    EXPECT_EQ(found->index, kRequest.index);
    EXPECT_EQ(found->sequence, kRequest.sequence);
  }
  Packet packet = Join(IpHeader(GetParam()), Request(GetParam()));
  EXPECT_FALSE(FindEchoRequest(GetParam(), packet, [](uint64_t) { return false; }));
  Packet cut(packet.begin(), packet.end() - 56 + 11);  // the index is cut
  EXPECT_FALSE(FindEchoRequest(GetParam(), cut, known));
}

}  // namespace
}  // namespace icmp_packet_test
}  // namespace assay::agent::route
