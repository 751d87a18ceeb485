#include "agent/probe/route/resolve.h"

#include <netdb.h>
#include <netinet/in.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "agent/probe/route/echo_engine.h"
#include "common/base/message.h"
#include "common/base/status_macros.h"

namespace assay::agent::route {
namespace {

constexpr std::chrono::milliseconds kCancelPoll(20);

struct Lookup {
  int error = 0;
  SocketAddress address;
};

int NativeFamily(v1::AddressFamily family) {
  switch (family) {
    case v1::ADDRESS_FAMILY_IPV4:
      return AF_INET;
    case v1::ADDRESS_FAMILY_IPV6:
      return AF_INET6;
    default:
      return AF_UNSPEC;
  }
}

Lookup Ask(const std::string& host, int family, int flags) {
  addrinfo hints = {};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  Lookup lookup;
  lookup.error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (lookup.error != 0) return lookup;
  lookup.error = EAI_NONAME;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    std::memcpy(&lookup.address.storage, entry->ai_addr, entry->ai_addrlen);
    lookup.address.length = entry->ai_addrlen;
    lookup.error = 0;
    break;
  }
  freeaddrinfo(list);
  return lookup;
}

// Shared with the thread that asks, which may outlive the asking.
struct Pending {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;  // guarded by mutex, as is lookup
  Lookup lookup;
};

absl::StatusOr<Lookup> AskInBackground(const std::string& host, int family,
                                       const ProbeControl& control, int64_t deadline_ns) {
  auto pending = std::make_shared<Pending>();
  std::thread([pending, host, family] {
    Lookup lookup = Ask(host, family, 0);
    std::lock_guard lock(pending->mutex);
    pending->lookup = lookup;
    pending->done = true;
    pending->changed.notify_one();
  }).detach();
  std::unique_lock lock(pending->mutex);
  while (!pending->done) {
    if (control.cancelled != nullptr && control.cancelled->load()) {
      return Error(absl::StatusCode::kCancelled, "probe.cancelled");
    }
    if (MonotonicNowNs() >= deadline_ns) {
      return Error(absl::StatusCode::kDeadlineExceeded, "probe.not_resolved",
                   {{"host", host}, {"detail", "no answer within the time limit"}});
    }
    pending->changed.wait_for(lock, kCancelPoll);
  }
  return pending->lookup;
}

std::string NumericText(const SocketAddress& address) {
  char text[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address.storage), address.length, text,
              sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

}  // namespace

absl::StatusOr<ResolvedTarget> ResolveTarget(const std::string& host, v1::AddressFamily family,
                                             const ProbeRequest& request,
                                             const ProbeControl& control, int64_t deadline_ns) {
  int native = NativeFamily(family);
  Lookup lookup = Ask(host, native, AI_NUMERICHOST);
  if (lookup.error == EAI_NONAME) {
    ASSAY_ASSIGN_OR_RETURN(lookup, AskInBackground(host, native, control, deadline_ns));
  }
  if (lookup.error != 0) {
    return Error(absl::StatusCode::kNotFound, "probe.not_resolved",
                 {{"host", host}, {"detail", gai_strerror(lookup.error)}});
  }
  ResolvedTarget target{.address = lookup.address, .numeric = NumericText(lookup.address)};
  if (request.guard != nullptr) {
    ASSAY_RETURN_IF_ERROR(request.guard->CheckAddress(host, target.numeric));
  }
  return target;
}

}  // namespace assay::agent::route
