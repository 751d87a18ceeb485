#include "agent/probe/route/echo_engine.h"

#include <poll.h>
#include <sys/random.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::agent::route {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
// Longest sleep: how soon a cancellation is noticed.
constexpr int64_t kMaxWaitNs = 50 * kMillisecondNs;
constexpr int64_t kProgressNs = 100 * kMillisecondNs;
// The kernel switches on time stamps of arriving packets a moment after the first socket asks.
constexpr int64_t kSettleNs = 10 * kMillisecondNs;
// Packets read in a row before sending gets its turn again.
constexpr size_t kMaxDrain = 2048;

int64_t ReadClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

uint64_t RandomSeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) seed = std::random_device{}();
  return seed;
}

}  // namespace

int64_t MonotonicNowNs() { return ReadClockNs(CLOCK_MONOTONIC); }

absl::StatusOr<std::unique_ptr<EchoEngine>> EchoEngine::Open(std::vector<EchoTarget> targets,
                                                             SocketPreference preference) {
  std::unique_ptr<EchoEngine> engine(new EchoEngine);
  size_t payload_bytes[2] = {0, 0};
  for (const EchoTarget& target : targets) {
    size_t& largest = payload_bytes[static_cast<int>(target.address.version())];
    largest = std::max<size_t>(largest, target.plan.payload_bytes);
  }
  for (IpVersion version : {IpVersion::kV4, IpVersion::kV6}) {
    size_t largest = payload_bytes[static_cast<int>(version)];
    if (largest == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(engine->sockets_[static_cast<int>(version)],
                           IcmpSocket::Open(version, preference, largest));
  }
  engine->targets_ = std::move(targets);
  return engine;
}

IcmpSocket* EchoEngine::SocketOf(uint32_t session) {
  return sockets_[static_cast<int>(targets_[session].address.version())].get();
}

void EchoEngine::Start() {
  std::mt19937_64 random(RandomSeed());
  int64_t begin_ns = MonotonicNowNs() + kSettleNs;
  sessions_.reserve(targets_.size());
  for (uint32_t i = 0; i < targets_.size(); ++i) {
    const EchoTarget& target = targets_[i];
    uint64_t cookie = random();
    while (!by_cookie_.emplace(cookie, i).second) cookie = random();
    // A random phase, so that many targets are not asked in one burst.
    auto phase_ns = static_cast<int64_t>(random() % static_cast<uint64_t>(target.plan.interval_ns));
    IpAddress address = target.address.address();
    sessions_.emplace_back(target.plan, address, SocketOf(i)->id(), cookie, random(),
                           begin_ns + phase_ns);
    by_address_[address].push_back(i);
    due_.push({begin_ns + phase_ns, i});
  }
  done_.assign(targets_.size(), false);
  open_sessions_ = targets_.size();
  outgoing_.reserve(IcmpSocket::kSendBatch);
}

void EchoEngine::ReadClocks() {
  int64_t best_before = 0, best_real = 0, best_after = INT64_MAX;
  // The tightest of a few: the agent may be interrupted between two readings.
  for (int i = 0; i < 3; ++i) {
    int64_t before = ReadClockNs(CLOCK_MONOTONIC);
    int64_t real = ReadClockNs(CLOCK_REALTIME);
    int64_t after = ReadClockNs(CLOCK_MONOTONIC);
    if (i > 0 && after - before >= best_after - best_before) continue;
    best_before = before;
    best_real = real;
    best_after = after;
  }
  bridge_.OnReading(best_before, best_real, best_after);
}

EchoEngine::End EchoEngine::Run(const EchoLimits& limits) {
  ReadClocks();
  Start();
  uint64_t planned = 0;
  for (const EchoTarget& target : targets_) planned += target.plan.count;
  int64_t next_progress_ns = 0;
  End end = End::kDone;
  while (open_sessions_ > 0) {
    int64_t now_ns = MonotonicNowNs();
    if (limits.cancelled != nullptr && limits.cancelled->load(std::memory_order_relaxed)) {
      end = End::kCancelled;
      break;
    }
    if (now_ns >= limits.deadline_ns) {
      end = End::kDeadline;
      break;
    }
    Work();
    if (limits.progress && planned > 0 && now_ns >= next_progress_ns) {
      limits.progress(static_cast<double>(attempted_) / static_cast<double>(planned));
      next_progress_ns = now_ns + kProgressNs;
    }
    if (due_.empty()) break;
    Wait(std::min(due_.top().at_ns, limits.deadline_ns));
    for (std::unique_ptr<IcmpSocket>& socket : sockets_) {
      if (socket != nullptr) Drain(*socket);
    }
  }
  ended_at_ns_ = MonotonicNowNs();
  return end;
}

void EchoEngine::Schedule(uint32_t session) {
  EchoSession& s = sessions_[session];
  due_.push({s.AllSent() ? s.DoneAt() : s.NextSendAt(), session});
}

void EchoEngine::Work() {
  // (session, due) of this round, by family.
  std::vector<std::pair<uint32_t, int64_t>> batches[2];
  int64_t now_ns = MonotonicNowNs();
  while (!due_.empty() && due_.top().at_ns <= now_ns) {
    uint32_t session = due_.top().session;
    due_.pop();
    if (done_[session]) continue;
    EchoSession& s = sessions_[session];
    if (s.AllSent()) {
      if (s.Done(now_ns)) {
        done_[session] = true;
        --open_sessions_;
      } else {
        Schedule(session);
      }
      continue;
    }
    if (s.NextSendAt() > now_ns) {
      Schedule(session);
      continue;
    }
    auto& batch = batches[static_cast<int>(targets_[session].address.version())];
    batch.emplace_back(session, s.NextSendAt());
    if (batch.size() == IcmpSocket::kSendBatch) {
      SendBatch(*SocketOf(session), &batch);
      now_ns = MonotonicNowNs();
    }
  }
  for (auto& batch : batches) {
    if (!batch.empty()) SendBatch(*SocketOf(batch.front().first), &batch);
  }
}

void EchoEngine::SendBatch(IcmpSocket& socket, std::vector<std::pair<uint32_t, int64_t>>* due) {
  outgoing_.resize(due->size());
  for (size_t i = 0; i < due->size(); ++i) {
    uint32_t session = (*due)[i].first;
    outgoing_[i].to = &targets_[session].address;
    outgoing_[i].dscp = targets_[session].dscp;
    BuildEchoRequest(socket.version(), sessions_[session].Next(),
                     targets_[session].plan.payload_bytes, &outgoing_[i].message);
  }
  int64_t sent_ns = MonotonicNowNs();
  socket.Send(absl::MakeSpan(outgoing_));
  for (size_t i = 0; i < due->size(); ++i) {
    uint32_t session = (*due)[i].first;
    if (outgoing_[i].error == 0) {
      sessions_[session].OnSent(sent_ns);
    } else {
      sessions_[session].OnRefused(sent_ns, outgoing_[i].error);
    }
    ++attempted_;
    Schedule(session);
  }
  due->clear();
}

void EchoEngine::Wait(int64_t until_ns) {
  int64_t wait_ns = std::clamp<int64_t>(until_ns - MonotonicNowNs(), 0, kMaxWaitNs);
  timespec timeout = {wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
  pollfd polls[2];
  nfds_t count = 0;
  for (const std::unique_ptr<IcmpSocket>& socket : sockets_) {
    if (socket != nullptr) polls[count++] = {socket->fd(), POLLIN, 0};
  }
  ppoll(polls, count, &timeout, nullptr);
}

void EchoEngine::Drain(IcmpSocket& socket) {
  DrainReports(socket);
  DrainPackets(socket);
}

void EchoEngine::DrainReports(IcmpSocket& socket) {
  struct Sent {
    uint32_t session;
    uint32_t index;
    int64_t realtime_ns;
  };
  std::vector<Sent> sent;
  auto known = [this](uint64_t cookie) { return by_cookie_.contains(cookie); };
  socket.ReadReports(kMaxDrain, [&](const IcmpSocket::Report& report) {
    if (report.kind == IcmpSocket::Report::Kind::kError) {
      OnError(report.error, report.from);
      return;
    }
    std::optional<EchoRequest> request = FindEchoRequest(socket.version(), report.packet, known);
    if (request) sent.push_back({by_cookie_[request->cookie], request->index, report.realtime_ns});
  });
  if (sent.empty()) return;
  ReadClocks();
  for (const Sent& stamp : sent) {
    std::optional<int64_t> kernel_ns = bridge_.ToMonotonic(stamp.realtime_ns);
    if (kernel_ns) sessions_[stamp.session].OnSendStamp(stamp.index, *kernel_ns);
  }
}

void EchoEngine::DrainPackets(IcmpSocket& socket) {
  for (size_t total = 0; total < kMaxDrain;) {
    absl::Span<const IcmpSocket::Incoming> batch = socket.Receive();
    if (batch.empty()) return;
    int64_t read_ns = MonotonicNowNs();
    ReadClocks();
    for (const IcmpSocket::Incoming& packet : batch) {
      IcmpMessage message = ParseIcmp(socket.version(), packet.message);
      if (message.reply) {
        Stamp stamp{.user_ns = read_ns};
        if (packet.realtime_ns != 0) stamp.kernel_ns = bridge_.ToMonotonic(packet.realtime_ns);
        OnReply(socket, packet.from, *message.reply, stamp);
      } else if (message.error) {
        OnError(*message.error, packet.from.ToString());
      }
    }
    total += batch.size();
    if (batch.size() < IcmpSocket::kReceiveBatch) return;
  }
}

void EchoEngine::OnReply(const IcmpSocket& socket, const IpAddress& from, const EchoReply& reply,
                         const Stamp& stamp) {
  std::optional<uint64_t> cookie = CookieOf(reply.payload);
  auto by_cookie = cookie ? by_cookie_.find(*cookie) : by_cookie_.end();
  uint32_t session = 0;
  bool cookie_known_ours = false;
  if (by_cookie != by_cookie_.end()) {
    session = by_cookie->second;
  } else {
    // A damaged cookie is known for that only where the kernel has told us by the identifier that
    // the reply is ours, and where one target alone has this address.
    auto by_address = by_address_.find(from);
    bool only_one = by_address != by_address_.end() && by_address->second.size() == 1;
    if (socket.kind() != SocketKind::kDatagram || !only_one) return;
    session = by_address->second.front();
    cookie_known_ours = true;
  }
  EchoSession::Match match = sessions_[session].OnReply(from, reply, stamp, cookie_known_ours);
  // It may be done earlier now.
  bool moved = match == EchoSession::Match::kFirst || match == EchoSession::Match::kDuplicate;
  if (moved && sessions_[session].AllSent()) Schedule(session);
}

void EchoEngine::OnError(const IcmpError& error, const std::string& from) {
  auto found = by_address_.find(error.quoted_destination);
  if (found == by_address_.end()) return;
  for (uint32_t session : found->second) {
    if (sessions_[session].OnError(error, from)) return;
  }
}

EchoSession::Outcome EchoEngine::Outcome(size_t target, int64_t offset_origin_ns) const {
  EchoSession::Outcome outcome = sessions_[target].Finish(ended_at_ns_, offset_origin_ns);
  SocketKind kind = sockets_[static_cast<int>(targets_[target].address.version())]->kind();
  outcome.evidence.set_socket_kind(SocketKindName(kind));
  return outcome;
}

uint64_t EchoEngine::overflow() const {
  uint64_t total = 0;
  for (const std::unique_ptr<IcmpSocket>& socket : sockets_) {
    if (socket != nullptr) total += socket->overflow();
  }
  return total;
}

}  // namespace assay::agent::route
