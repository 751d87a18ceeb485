#include "tests/pathsim/path/path.h"

#include <algorithm>
#include <utility>

#include "tests/pathsim/packet/build.h"

namespace assay::pathsim {
namespace {

// Bounds memory where duplicates breed.
constexpr size_t kMostTravellers = 200'000;

Direction Opposite(Direction direction) {
  return direction == Direction::kForward ? Direction::kReverse : Direction::kForward;
}

}  // namespace

struct Path::Traveller {
  absl::Duration time;  // of its next step
  uint64_t step = 0;
  bool leaves = false;  // next step: true: it is sent from its position; false: it arrives there
  uint64_t packet = 0, about = 0;
  absl::Duration sent, origin;
  Direction direction = Direction::kForward;
  std::shared_ptr<const Route> route;
  Position position;
  Header header;
  Bytes bytes;
};

Path::Path(Scenario scenario)
    : scenario_(std::move(scenario)),
      far_forward_(scenario_.far_forward, scenario_.seed, "far/forward"),
      far_reverse_(scenario_.far_reverse, scenario_.seed, "far/reverse"),
      hops_(std::make_shared<Route>(scenario_.hops)) {
  if (scenario_.return_hops) return_hops_ = std::make_shared<Route>(*scenario_.return_hops);
  for (const RouterSettings& settings : scenario_.routers) {
    routers_.push_back(std::make_unique<Router>(settings, scenario_.seed));
  }
}

Path::~Path() = default;

bool Path::Later(const TravellerPtr& a, const TravellerPtr& b) {
  return std::pair(a->time, a->step) > std::pair(b->time, b->step);
}

bool Path::IsAtHost(const Traveller& traveller) const {
  int segment = traveller.position.segment;
  return segment < 0 || segment == static_cast<int>(traveller.route->size());
}

int Path::RouterAt(const Traveller& traveller) const {
  const Position& at = traveller.position;
  if (at.segment < 0) return kNearHost;
  if (IsAtHost(traveller)) return kFarHost;
  return (*traveller.route)[at.segment].branches[at.branch][at.index];
}

Event Path::MakeEvent(const Traveller& traveller, What what, Reason reason, int place) const {
  Event event;
  event.time = traveller.time;
  event.what = what;
  event.packet = traveller.packet;
  event.direction = traveller.direction;
  event.place = place;
  event.reason = reason;
  return event;
}

void Path::Push(TravellerPtr traveller, Outcome& outcome) {
  if (heap_.size() >= kMostTravellers) {
    outcome.events.push_back(
        MakeEvent(*traveller, What::kDropped, Reason::kOverload, RouterAt(*traveller)));
    return;
  }
  traveller->step = ++steps_;
  heap_.push_back(std::move(traveller));
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

Path::TravellerPtr Path::MakeFrom(const Traveller& cause, absl::Duration time, Bytes bytes) {
  auto made = std::make_unique<Traveller>(cause);
  made->packet = ++packets_;
  made->about = cause.packet;
  made->time = made->sent = time;
  made->bytes = std::move(bytes);
  made->header = *ParseHeader(made->bytes);  // what this program builds is well formed
  return made;
}

void Path::Inject(absl::Duration time, Direction direction, Bytes bytes, Outcome& outcome) {
  auto traveller = std::make_unique<Traveller>();
  traveller->time = traveller->sent = traveller->origin = time;
  traveller->direction = direction;
  const bool forward = direction == Direction::kForward;
  const int host = forward ? kNearHost : kFarHost;
  absl::StatusOr<Header> header = ParseHeader(bytes);
  if (!header.ok() || IsLinkLocal(header->source) || IsMulticast(header->destination)) {
    // Not numbered: what a host's kernel sends for itself doesn't shift the ordinals.
    outcome.events.push_back(MakeEvent(
        *traveller, What::kDropped, header.ok() ? Reason::kLinkLocal : Reason::kMalformed, host));
    return;
  }
  if (!first_packet_) first_packet_ = time;
  ChangeRoutes(time, outcome);

  traveller->packet = ++packets_;
  traveller->header = *header;
  traveller->bytes = std::move(bytes);
  traveller->bytes.resize(header->total_bytes);
  traveller->route = forward || return_hops_ == nullptr ? hops_ : return_hops_;
  traveller->position.segment = forward ? -1 : static_cast<int>(traveller->route->size());
  Event event = MakeEvent(*traveller, What::kSent, Reason::kNone, host);
  event.ordinal = ++sent_[forward ? 0 : 1];
  event.fields = FieldsOf(*header, traveller->bytes);
  outcome.events.push_back(std::move(event));
  Transmit(std::move(traveller), outcome);
}

void Path::ChangeRoutes(absl::Duration time, Outcome& outcome) {
  for (; changes_done_ < scenario_.changes.size(); ++changes_done_) {
    const RouteChange& change = scenario_.changes[changes_done_];
    bool due = change.at ? time - *first_packet_ >= *change.at : sent_[0] >= *change.after_packets;
    if (!due) return;
    if (change.hops) hops_ = std::make_shared<Route>(*change.hops);
    if (change.return_hops) return_hops_ = std::make_shared<Route>(*change.return_hops);
    Event event;
    event.time = time;
    event.what = What::kChanged;
    outcome.events.push_back(std::move(event));
  }
}

std::optional<Path::Upcoming> Path::Next() const {
  if (heap_.empty()) return std::nullopt;
  const Traveller& first = *heap_.front();
  const int last = static_cast<int>(first.route->size()) - 1;
  bool forward = first.direction == Direction::kForward;
  return Upcoming{first.time, IsAtHost(first) || first.position.segment == (forward ? last : 0)};
}

void Path::AdvanceTo(absl::Duration time, Outcome& outcome) {
  while (!heap_.empty() && heap_.front()->time <= time) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    TravellerPtr traveller = std::move(heap_.back());
    heap_.pop_back();
    if (traveller->leaves) {
      traveller->leaves = false;
      Transmit(std::move(traveller), outcome);
    } else {
      Arrive(std::move(traveller), outcome);
    }
  }
}

void Path::MoveOn(Traveller& traveller) {
  const bool forward = traveller.direction == Direction::kForward;
  const Route& route = *traveller.route;
  Position& at = traveller.position;
  if (!IsAtHost(traveller)) {
    int next = at.index + (forward ? 1 : -1);
    int size = static_cast<int>(route[at.segment].branches[at.branch].size());
    if (next >= 0 && next < size) {
      at.index = next;
      return;
    }
  }
  at.segment += forward ? 1 : -1;
  at.branch = at.index = 0;
  if (IsAtHost(traveller)) return;
  const Segment& segment = route[at.segment];
  if (size_t count = segment.branches.size(); count > 1) {
    // Routers of different segments hash differently.
    uint64_t seed = scenario_.seed + static_cast<uint64_t>(at.segment) + 1;
    uint64_t hash = segment.by == SpreadBy::kFlow
                        ? FlowHash(traveller.header, traveller.bytes, seed)
                    : segment.by == SpreadBy::kAddresses ? AddressHash(traveller.header, seed)
                                                         : spread_++;
    at.branch = static_cast<int>(hash % count);
  }
  if (!forward) at.index = static_cast<int>(segment.branches[at.branch].size()) - 1;
}

void Path::Transmit(TravellerPtr traveller, Outcome& outcome) {
  const int from = RouterAt(*traveller);
  const Position position = traveller->position;
  MoveOn(*traveller);
  const int to = RouterAt(*traveller);
  // A link belongs to its right end.
  const bool forward = traveller->direction == Direction::kForward;
  const int owner = forward ? to : from;
  Link& link = owner == kFarHost ? (forward ? far_forward_ : far_reverse_)
               : forward         ? routers_[owner]->forward
                                 : routers_[owner]->reverse;
  if (traveller->header.total_bytes > link.settings().mtu) {
    if (from < 0) {
      // The host has a larger MTU than its own link.
      outcome.events.push_back(MakeEvent(*traveller, What::kDropped, Reason::kMtu, from));
      return;
    }
    traveller->position = position;
    TooBig(std::move(traveller), *routers_[from], link.settings().mtu,
           link.settings().answers_too_big, outcome);
    return;
  }
  Link::Fate fate =
      link.Send(traveller->time, traveller->header.protocol, traveller->header.total_bytes);
  if (fate.dropped != Reason::kNone) {
    outcome.events.push_back(MakeEvent(*traveller, What::kDropped, fate.dropped, to));
    return;
  }
  TravellerPtr copy;
  if (fate.duplicated) {
    copy = MakeFrom(*traveller, traveller->time, traveller->bytes);
    Event event = MakeEvent(*traveller, What::kDuplicated, Reason::kNone, to);
    event.answer = copy->packet;
    outcome.events.push_back(std::move(event));
    copy->time = fate.arrives;
  }
  traveller->time = fate.arrives;
  Push(std::move(traveller), outcome);
  if (copy != nullptr) Push(std::move(copy), outcome);
}

void Path::TooBig(TravellerPtr traveller, Router& router, uint16_t mtu, bool answers,
                  Outcome& outcome) {
  const int place = RouterAt(*traveller);
  if (!traveller->header.dont_fragment) {
    for (Bytes& piece : FragmentV4(traveller->bytes, mtu)) {
      TravellerPtr part = MakeFrom(*traveller, traveller->time, std::move(piece));
      Event event = MakeEvent(*traveller, What::kFragmented, Reason::kMtu, place);
      event.answer = part->packet;
      outcome.events.push_back(std::move(event));
      Transmit(std::move(part), outcome);
    }
    return;
  }
  outcome.events.push_back(MakeEvent(*traveller, What::kDropped, Reason::kMtu, place));
  if (!answers) return;
  SendAnswer(
      *traveller, place,
      router.Error(traveller->time, IcmpError::kTooBig, mtu, traveller->header, traveller->bytes),
      outcome);
}

void Path::Arrive(TravellerPtr traveller, Outcome& outcome) {
  const int place = RouterAt(*traveller);
  if (IsAtHost(*traveller)) {
    outcome.events.push_back(MakeEvent(*traveller, What::kDelivered, Reason::kNone, place));
    outcome.deliveries.push_back({traveller->time, traveller->direction, traveller->packet,
                                  traveller->about, traveller->sent, traveller->origin,
                                  std::move(traveller->bytes)});
    return;
  }
  Router& router = *routers_[place];
  Header& header = traveller->header;
  if (router.Owns(header.destination)) {
    outcome.events.push_back(MakeEvent(*traveller, What::kDropped, Reason::kLocal, place));
    SendAnswer(*traveller, place, router.Local(traveller->time, header, traveller->bytes), outcome);
    return;
  }
  if (!router.settings().hidden) {
    if (header.ttl <= 1) {
      outcome.events.push_back(MakeEvent(*traveller, What::kDropped, Reason::kTtl, place));
      SendAnswer(
          *traveller, place,
          router.Error(traveller->time, IcmpError::kTimeExceeded, 0, header, traveller->bytes),
          outcome);
      return;
    }
    DecrementTtl(traveller->bytes);
    --header.ttl;
  }
  Transmit(std::move(traveller), outcome);
}

void Path::SendAnswer(const Traveller& cause, int place, Router::Answer answer, Outcome& outcome) {
  if (answer.kind == Reason::kNone) {
    if (answer.refused != Reason::kNone) {
      outcome.events.push_back(MakeEvent(cause, What::kUnanswered, answer.refused, place));
    }
    return;
  }
  TravellerPtr made = MakeFrom(cause, answer.leaves, std::move(answer.bytes));
  made->direction = Opposite(cause.direction);
  made->leaves = true;
  Event event = MakeEvent(cause, What::kAnswered, answer.kind, place);
  event.answer = made->packet;
  event.fields = FieldsOf(made->header, made->bytes);
  outcome.events.push_back(std::move(event));
  const std::string& via = routers_[place]->settings().return_via;
  if (!via.empty() && made->direction == Direction::kReverse) {
    // Through that router like any packet, not from it.
    if (JoinReturn(*made, via)) made->leaves = false;
  }
  Push(std::move(made), outcome);
}

bool Path::JoinReturn(Traveller& answer, const std::string& name) const {
  if (return_hops_ == nullptr) return false;
  for (size_t segment = 0; segment < return_hops_->size(); ++segment) {
    const auto& branches = (*return_hops_)[segment].branches;
    for (size_t branch = 0; branch < branches.size(); ++branch) {
      for (size_t index = 0; index < branches[branch].size(); ++index) {
        if (scenario_.routers[branches[branch][index]].name != name) continue;
        answer.route = return_hops_;
        answer.position = {static_cast<int>(segment), static_cast<int>(branch),
                           static_cast<int>(index)};
        return true;
      }
    }
  }
  return false;
}

}  // namespace assay::pathsim
