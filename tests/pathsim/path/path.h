// The path as a pure event simulation: packets in at stated times, packets out at stated times, and
// everything that happened in between. No sockets, no clock, no threads; the same scenario and the
// same packets at the same times give the same outcome.
//
//   Path path(scenario);
//   path.Inject(absl::ZeroDuration(), Direction::kForward, packet, outcome);
//   path.AdvanceTo(absl::Seconds(1), outcome);
//
// A packet keeps the route that was in force when it, or what it answers, entered the path. Within
// a segment of equal-cost branches it keeps to one branch. An answer goes back over the routers
// that its cause came by; where several branches lie on the way, by its own hash.
#ifndef ASSAY_TESTS_PATHSIM_PATH_PATH_H_
#define ASSAY_TESTS_PATHSIM_PATH_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "tests/pathsim/path/event.h"
#include "tests/pathsim/path/router.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

struct Outcome {
  std::vector<Event> events;         // in order of simulated time
  std::vector<Delivery> deliveries;  // likewise
};

class Path {
 public:
  explicit Path(Scenario scenario);
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path();

  // A host sends a packet: the near host for kForward, the far host for kReverse. Call AdvanceTo()
  // with the same time first, so that the order of simulated time holds.
  void Inject(absl::Duration time, Direction direction, Bytes bytes, Outcome& outcome);

  // Lets everything up to and including `time` happen.
  void AdvanceTo(absl::Duration time, Outcome& outcome);

  struct Upcoming {
    absl::Duration time;
    bool soon_delivered = false;  // it is a delivery, or the last step before one
  };
  // The next thing to happen; nullopt while the path is empty.
  std::optional<Upcoming> Next() const;

  // Packets on the path.
  size_t InFlight() const { return heap_.size(); }

  const Scenario& scenario() const { return scenario_; }

 private:
  // Where on a route a packet is: before the first segment the near host, behind the last the far.
  struct Position {
    int segment = 0, branch = 0, index = 0;
  };
  struct Traveller;  // a packet on the path
  using TravellerPtr = std::unique_ptr<Traveller>;
  // Later ones first, so that the heap's front is the earliest.
  static bool Later(const TravellerPtr& a, const TravellerPtr& b);

  int RouterAt(const Traveller& traveller) const;
  bool IsAtHost(const Traveller& traveller) const;
  void MoveOn(Traveller& traveller);
  TravellerPtr MakeFrom(const Traveller& cause, absl::Duration time, Bytes bytes);
  void Push(TravellerPtr traveller, Outcome& outcome);

  void ChangeRoutes(absl::Duration time, Outcome& outcome);
  void Arrive(TravellerPtr traveller, Outcome& outcome);
  void Transmit(TravellerPtr traveller, Outcome& outcome);
  void TooBig(TravellerPtr traveller, Router& router, uint16_t mtu, bool answers, Outcome& outcome);
  void SendAnswer(const Traveller& cause, int place, Router::Answer answer, Outcome& outcome);
  bool JoinReturn(Traveller& answer, const std::string& name) const;
  Event MakeEvent(const Traveller& traveller, What what, Reason reason, int place) const;

  const Scenario scenario_;
  std::vector<std::unique_ptr<Router>> routers_;
  Link far_forward_, far_reverse_;
  std::shared_ptr<const Route> hops_;
  std::shared_ptr<const Route> return_hops_;  // nullptr: hops_
  size_t changes_done_ = 0;
  std::optional<absl::Duration> first_packet_;

  std::vector<TravellerPtr> heap_;
  uint64_t steps_ = 0;    // orders what happens at the same time
  uint64_t packets_ = 0;  // numbers given
  uint64_t sent_[2] = {0, 0};
  uint64_t spread_ = 0;  // turns of SpreadBy::kPacket
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_PATH_H_
