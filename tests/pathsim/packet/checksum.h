// The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
#ifndef ASSAY_TESTS_PATHSIM_PACKET_CHECKSUM_H_
#define ASSAY_TESTS_PATHSIM_PACKET_CHECKSUM_H_

#include <cstdint>

#include "tests/pathsim/packet/address.h"
#include "tests/pathsim/packet/bytes.h"

namespace assay::pathsim {

// Of `bytes`, padded with a zero byte to an even length. 0 over bytes that include a right
// checksum.
uint16_t InternetChecksum(ByteView bytes);

// Of UDP, TCP and ICMPv6: with the pseudo-header of RFC 793 or RFC 8200 8.1 in front.
uint16_t TransportChecksum(const Address& source, const Address& destination, uint8_t protocol,
                           ByteView segment);

// The checksum after one 16-bit word that it covers changes from `before` to `after` (RFC 1624,
// equation 3).
uint16_t UpdateChecksum(uint16_t checksum, uint16_t before, uint16_t after);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PACKET_CHECKSUM_H_
