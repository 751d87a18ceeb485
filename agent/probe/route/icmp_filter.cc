#include "agent/probe/route/icmp_filter.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

namespace assay::agent::route {
namespace {

// Loads beyond the end of the packet end a program with "drop".
sock_filter Statement(uint16_t code, uint32_t k) { return {code, 0, 0, k}; }
sock_filter IfEqual(uint32_t k, uint8_t skip_if, uint8_t skip_else) {
  return {BPF_JMP | BPF_JEQ | BPF_K, skip_if, skip_else, k};
}

constexpr uint16_t kLoadByte = BPF_LD | BPF_B | BPF_ABS;
constexpr uint16_t kLoadHalf = BPF_LD | BPF_H | BPF_ABS;
constexpr uint16_t kLoadByteX = BPF_LD | BPF_B | BPF_IND;
constexpr uint16_t kLoadHalfX = BPF_LD | BPF_H | BPF_IND;
constexpr uint32_t kAccept = 0xFFFFFFFF;

std::vector<sock_filter> EchoFilterV4(uint32_t id) {
  return {
      Statement(BPF_LDX | BPF_B | BPF_MSH, 0),  // X = length of the IP header
      Statement(kLoadByteX, 0),                 // type
      IfEqual(ICMP_ECHOREPLY, 0, 2),
      Statement(kLoadHalfX, 4),  // identifier
      IfEqual(id, 8, 7),
      // X += length of the quoted IP header, 8 bytes after ours.
      Statement(kLoadByteX, kIcmpHeaderBytes),
      Statement(BPF_ALU | BPF_AND | BPF_K, 0xF),
      Statement(BPF_ALU | BPF_LSH | BPF_K, 2),
      Statement(BPF_ALU | BPF_ADD | BPF_X, 0),
      Statement(BPF_MISC | BPF_TAX, 0),
      Statement(kLoadHalfX, kIcmpHeaderBytes + 4),  // quoted identifier
      IfEqual(id, 1, 0),
      Statement(BPF_RET | BPF_K, 0),
      Statement(BPF_RET | BPF_K, kAccept),
  };
}

std::vector<sock_filter> EchoFilterV6(uint32_t id) {
  constexpr uint32_t kQuotedIp = 8;
  return {
      Statement(kLoadByte, 0),  // type
      IfEqual(ICMP6_ECHO_REPLY, 0, 2),
      Statement(kLoadHalf, 4),  // identifier
      IfEqual(id, 7, 6),
      Statement(kLoadByte, kQuotedIp + 6),  // quoted next header
      IfEqual(IPPROTO_FRAGMENT, 0, 2),
      Statement(kLoadHalf, kQuotedIp + 40 + 8 + 4),
      IfEqual(id, 3, 2),
      Statement(kLoadHalf, kQuotedIp + 40 + 4),
      IfEqual(id, 1, 0),
      Statement(BPF_RET | BPF_K, 0),
      Statement(BPF_RET | BPF_K, kAccept),
  };
}

}  // namespace

std::vector<sock_filter> EchoFilter(IpVersion version, Identifier id) {
  return version == IpVersion::kV4 ? EchoFilterV4(id.value) : EchoFilterV6(id.value);
}

}  // namespace assay::agent::route
