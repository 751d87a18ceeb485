// Big-endian fields in packets.
#ifndef ASSAY_TESTS_PATHSIM_PACKET_BYTES_H_
#define ASSAY_TESTS_PATHSIM_PACKET_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace assay::pathsim {

using Bytes = std::vector<uint8_t>;
using ByteView = absl::Span<const uint8_t>;

// The caller has checked that the field lies within `bytes`.
inline uint16_t Get16(ByteView bytes, size_t at) {
  return static_cast<uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}
inline uint32_t Get32(ByteView bytes, size_t at) {
  return static_cast<uint32_t>(Get16(bytes, at)) << 16 | Get16(bytes, at + 2);
}
inline void Set16(absl::Span<uint8_t> bytes, size_t at, uint16_t value) {
  bytes[at] = static_cast<uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<uint8_t>(value);
}
inline void Set32(absl::Span<uint8_t> bytes, size_t at, uint32_t value) {
  Set16(bytes, at, static_cast<uint16_t>(value >> 16));
  Set16(bytes, at + 2, static_cast<uint16_t>(value));
}

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PACKET_BYTES_H_
