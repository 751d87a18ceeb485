#include "tests/pathsim/path/router.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace assay::pathsim {

bool TokenBucket::Take(absl::Duration time) {
  if (rate_per_s_ == 0) return true;
  if (time > filled_) {
    double come = absl::ToDoubleSeconds(time - filled_) * rate_per_s_;
    tokens_ = std::min(burst_, tokens_ + come);
    filled_ = time;
  }
  // What adding up fractions may lose.
  if (tokens_ < 1 - 1e-9) return false;
  tokens_ -= 1;
  return true;
}

Router::Router(const RouterSettings& settings, uint64_t seed)
    : forward(settings.forward, seed, absl::StrCat(settings.name, "/forward")),
      reverse(settings.reverse, seed, absl::StrCat(settings.name, "/reverse")),
      settings_(settings),
      bucket_(settings.answers.rate_per_s, settings.answers.burst),
      random_(seed, absl::StrCat(settings.name, "/answers")) {}

bool Router::Owns(const Address& address) const {
  const std::vector<Address>& own = address.version == 4 ? settings_.v4 : settings_.v6;
  return std::find(own.begin(), own.end(), address) != own.end();
}

Router::Answer Router::Limited(absl::Duration time, Reason kind) {
  Answer answer;
  if (settings_.answers.silent) {
    answer.refused = Reason::kSilent;
  } else if (!bucket_.Take(time)) {
    answer.refused = Reason::kRateLimit;
  } else {
    answer.kind = kind;
    absl::Duration delay = settings_.answers.delay + DrawJitter(settings_.answers.jitter, random_);
    answer.leaves = time + std::max(delay, absl::ZeroDuration());
  }
  return answer;
}

Router::Answer Router::Error(absl::Duration time, IcmpError kind, uint16_t mtu,
                             const Header& header, ByteView packet) {
  Answer answer;
  const std::vector<Address>& own = header.version() == 4 ? settings_.v4 : settings_.v6;
  if (MayBeIcmpError(header, packet) || header.is_later_fragment || !IsOneHost(header.source) ||
      // A packet too big for a link may be answered where it went to many (RFC 4443 2.4 e.3).
      (!IsOneHost(header.destination) && !(header.version() == 6 && kind == IcmpError::kTooBig))) {
    answer.refused = Reason::kNotAnswerable;
    return answer;
  }
  if (own.empty()) {
    answer.refused = Reason::kNoAddress;
    return answer;
  }
  answer = Limited(time, kind == IcmpError::kTimeExceeded ? Reason::kTimeExceeded
                         : kind == IcmpError::kTooBig     ? Reason::kTooBig
                                                          : Reason::kPortUnreachable);
  if (answer.kind == Reason::kNone) return answer;
  // A port unreachable comes from the address that the packet was for.
  const Address& source =
      kind == IcmpError::kPortUnreachable ? header.destination : own[answers_++ % own.size()];
  answer.bytes = BuildIcmpError(kind, mtu, source, settings_.answers.ttl, settings_.answers.quote,
                                header, packet, random_.Next());
  return answer;
}

Router::Answer Router::Local(absl::Duration time, const Header& header, ByteView packet) {
  if (header.protocol == kUdp && !header.is_fragment) {
    return Error(time, IcmpError::kPortUnreachable, 0, header, packet);
  }
  absl::StatusOr<Transport> transport = ParseTransport(header, packet);
  bool v4 = header.version() == 4;
  bool is_echo = transport.ok() && !header.is_fragment && settings_.answers.echo &&
                 header.protocol == (v4 ? kIcmp : kIcmp6) &&
                 transport->icmp_type == (v4 ? 8 : 128) && IsOneHost(header.source);
  if (!is_echo) return {};
  Answer answer = Limited(time, Reason::kEchoReply);
  if (answer.kind != Reason::kNone) {
    answer.bytes = BuildEchoReply(header, packet, settings_.answers.ttl);
  }
  return answer;
}

}  // namespace assay::pathsim
