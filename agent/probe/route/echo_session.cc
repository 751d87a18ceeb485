#include "agent/probe/route/echo_session.h"

#include <algorithm>

namespace assay::agent::route {
namespace {

constexpr int64_t kMaxGraceNs = 2'000'000'000;
// After the last answer, so that its duplicate is seen too.
constexpr int64_t kLingerNs = 10'000'000;
// A kernel's time of sending may seem this much earlier than the agent's before it, by the error of
// converting between clocks.
constexpr int64_t kConversionSlackNs = 100'000;
// Distinct (type, code, sender) kept; further senders are counted without their address.
constexpr size_t kMaxErrorKinds = 256;

}  // namespace

EchoSession::EchoSession(const EchoPlan& plan, const IpAddress& target, Identifier id,
                         uint64_t cookie, uint64_t seed, int64_t first_send_ns)
    : plan_(plan),
      target_(target),
      id_(id),
      cookie_(cookie),
      pacer_(plan.interval_ns, seed, first_send_ns) {
  rows_.reserve(std::min<uint32_t>(plan.count, 4096));
}

EchoRequest EchoSession::Next() const {
  return {.id = id_,
          .sequence = {static_cast<uint16_t>(next_index_ + 1)},
          .cookie = cookie_,
          .index = next_index_};
}

void EchoSession::OnSent(int64_t sent_ns) {
  rows_.push_back({.sent_ns = sent_ns});
  ++next_index_;
  ++unanswered_;
  last_sent_ns_ = sent_ns;
  last_event_ns_ = sent_ns;
  pacer_.Advance(sent_ns);
}

void EchoSession::OnRefused(int64_t now_ns, int error) {
  rows_.push_back({});
  ++next_index_;
  ++refused_;
  refused_error_ = error;
  last_event_ns_ = now_ns;
  pacer_.Advance(now_ns);
}

void EchoSession::OnSendStamp(uint32_t index, int64_t kernel_ns) {
  if (!WasSent(index)) return;
  Row& row = rows_[index];
  bool plausible = kernel_ns >= row.sent_ns - kConversionSlackNs;
  // A fragmented or retried packet may be stamped again: the first time is the one.
  if (plausible && row.kernel_sent_ns == kNever) row.kernel_sent_ns = kernel_ns;
}

bool EchoSession::WasSent(uint32_t index) const {
  return index < rows_.size() && rows_[index].sent_ns != kNever;
}

std::optional<uint32_t> EchoSession::IndexOf(Sequence sequence) const {
  if (next_index_ == 0) return std::nullopt;
  // Sequence of index i is (i + 1) mod 2^16.
  uint32_t newest = next_index_ - 1;
  auto back = static_cast<uint16_t>(static_cast<uint16_t>(newest + 1) - sequence.value);
  if (back > newest || !WasSent(newest - back)) return std::nullopt;
  return newest - back;
}

EchoSession::Match EchoSession::OnReply(const IpAddress& from, const EchoReply& reply,
                                        const Stamp& stamp, bool cookie_known_ours) {
  if (from != target_ || reply.id != id_) return Match::kForeign;
  bool cookie_matches = CookieOf(reply.payload) == cookie_;
  if (!cookie_matches && !cookie_known_ours) return Match::kForeign;
  std::optional<uint32_t> index = IntactIndex(reply.payload, cookie_, plan_.payload_bytes);
  bool intact = reply.checksum_ok && index &&
                static_cast<uint16_t>(*index + 1) == reply.sequence.value && WasSent(*index);
  if (!intact) {
    if (!IndexOf(reply.sequence)) return Match::kForeign;
    ++corrupted_;
    return Match::kCorrupted;
  }
  Row& row = rows_[*index];
  last_event_ns_ = std::max(last_event_ns_, stamp.user_ns);
  if (row.arrival != 0) {
    ++row.duplicates;
    return Match::kDuplicate;
  }
  row.arrival = ++arrivals_;
  row.received_ns = stamp.user_ns;
  // Before it was sent or after it was read: not to be believed.
  if (stamp.kernel_ns && *stamp.kernel_ns >= row.sent_ns &&
      *stamp.kernel_ns <= stamp.user_ns + kConversionSlackNs) {
    row.kernel_received_ns = *stamp.kernel_ns;
  }
  --unanswered_;
  return Match::kFirst;
}

bool EchoSession::OnError(const IcmpError& error, const std::string& from) {
  if (error.quoted_destination != target_ || error.id != id_) return false;
  if (error.cookie && *error.cookie != cookie_) return false;
  if (!IndexOf(error.sequence)) return false;
  std::tuple<uint8_t, uint8_t, std::string> key(error.type, error.code, from);
  if (errors_.size() >= kMaxErrorKinds && errors_.count(key) == 0) std::get<2>(key).clear();
  ++errors_[key];
  return true;
}

int64_t EchoSession::DoneAt() const {
  if (last_sent_ns_ == kNever) return last_event_ns_;
  int64_t grace_ns = std::min(plan_.timeout_ns, kMaxGraceNs);
  int64_t latest_ns = last_sent_ns_ + plan_.timeout_ns + grace_ns;
  if (unanswered_ == 0) return std::min(latest_ns, last_event_ns_ + kLingerNs);
  return latest_ns;
}

int64_t EchoSession::SentNs(const Row& row) {
  return row.kernel_sent_ns != kNever ? row.kernel_sent_ns : row.sent_ns;
}

int64_t EchoSession::RoundTripNs(const Row& row) {
  if (row.arrival == 0) return -1;
  int64_t received_ns = row.kernel_received_ns != kNever ? row.kernel_received_ns : row.received_ns;
  int64_t delay_ns = received_ns - SentNs(row);
  // Only an error of conversion on a path of no length can do this; the agent's clock cannot.
  return delay_ns >= 0 ? delay_ns : row.received_ns - row.sent_ns;
}

EchoSession::Outcome EchoSession::Finish(int64_t now_ns, int64_t offset_origin_ns) const {
  Outcome outcome;
  outcome.truncated = !Done(now_ns);
  v1::IcmpEvidence& evidence = outcome.evidence;
  // (arrival, index) of replies in time: a late one is lost, hence neither reordered nor overtaking
  // (RFC 4737 defines reordering for packets that arrive).
  std::vector<std::pair<uint32_t, uint32_t>> in_time;
  bool kernel_sent = true;
  bool kernel_received = true;
  bool answered = false;
  for (uint32_t index = 0; index < rows_.size(); ++index) {
    const Row& row = rows_[index];
    if (row.sent_ns == kNever) continue;
    if (outcome.truncated && row.sent_ns > now_ns - plan_.timeout_ns) continue;
    int64_t delay_ns = RoundTripNs(row);
    evidence.add_send_offset_ns(std::max<int64_t>(0, SentNs(row) - offset_origin_ns));
    evidence.add_rtt_ns(delay_ns);
    evidence.set_duplicates(evidence.duplicates() + row.duplicates);
    if (row.duplicates > 0) evidence.set_duplicated_requests(evidence.duplicated_requests() + 1);
    if (delay_ns >= 0 && delay_ns <= plan_.timeout_ns) in_time.emplace_back(row.arrival, index);
    bool sent_by_kernel = row.kernel_sent_ns != kNever;
    bool received_by_kernel = row.arrival == 0 || row.kernel_received_ns != kNever;
    if (!sent_by_kernel || !received_by_kernel) ++outcome.user_timed;
    kernel_sent = kernel_sent && sent_by_kernel;
    kernel_received = kernel_received && received_by_kernel;
    answered = answered || row.arrival != 0;
  }
  std::sort(in_time.begin(), in_time.end());
  uint32_t highest = 0;
  for (const auto& [arrival, index] : in_time) {
    if (index < highest) evidence.set_reordered(evidence.reordered() + 1);
    highest = std::max(highest, index);
  }
  evidence.set_send_failures(refused_);
  evidence.set_send_errno(refused_error_);
  evidence.set_corrupted(corrupted_);
  for (const auto& [key, count] : errors_) {
    v1::IcmpErrorCount* error = evidence.add_errors();
    error->set_type(std::get<0>(key));
    error->set_code(std::get<1>(key));
    error->set_from(std::get<2>(key));
    error->set_count(count);
  }
  if (evidence.rtt_ns_size() > 0) {
    evidence.set_send_source(kernel_sent ? v1::TIMESTAMP_SOURCE_KERNEL : v1::TIMESTAMP_SOURCE_USER);
  }
  if (answered) {
    evidence.set_receive_source(kernel_received ? v1::TIMESTAMP_SOURCE_KERNEL
                                                : v1::TIMESTAMP_SOURCE_USER);
  }
  return outcome;
}

}  // namespace assay::agent::route
