#include "tests/pathsim/packet/checksum.h"

namespace assay::pathsim {
namespace {

uint64_t SumWords(ByteView bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += Get16(bytes, i);
  if (bytes.size() % 2 == 1) sum += static_cast<uint64_t>(bytes.back()) << 8;
  return sum;
}

uint16_t FoldSum(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

}  // namespace

uint16_t InternetChecksum(ByteView bytes) { return ~FoldSum(SumWords(bytes)); }

uint16_t TransportChecksum(const Address& source, const Address& destination, uint8_t protocol,
                           ByteView segment) {
  // Both pseudo-headers are the addresses, the length and the protocol, if at different places: the
  // sum is the same.
  uint64_t sum = SumWords(source.span()) + SumWords(destination.span()) + protocol +
                 segment.size() + SumWords(segment);
  return ~FoldSum(sum);
}

uint16_t UpdateChecksum(uint16_t checksum, uint16_t before, uint16_t after) {
  uint64_t sum = static_cast<uint16_t>(~checksum);
  sum += static_cast<uint16_t>(~before);
  sum += after;
  return ~FoldSum(sum);
}

}  // namespace assay::pathsim
