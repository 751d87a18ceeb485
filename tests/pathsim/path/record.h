// The record of a path: one JSON object a line for everything that happened, and totals at the end.
//
// Times are whole nanoseconds since the path's epoch. Lines are those of README.md.
#ifndef ASSAY_TESTS_PATHSIM_PATH_RECORD_H_
#define ASSAY_TESTS_PATHSIM_PATH_RECORD_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "tests/pathsim/path/event.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

class Record {
 public:
  // Takes the names of places from `scenario`, which must outlive it.
  explicit Record(const Scenario& scenario) : scenario_(scenario) {}

  // Counts it, and appends its line to `text`. Deliveries are written by Deliver().
  void Add(const Event& event, std::string& text);

  // `released` is when the host really got the packet.
  void Deliver(const Delivery& delivery, absl::Duration released, std::string& text);

  // {"what":"totals", ...}: counts by direction, what, reason and place; how exact releases were;
  // `in_flight` packets were still on the path.
  std::string Totals(size_t in_flight) const;

  uint64_t Count(Direction direction, What what, Reason reason = Reason::kNone) const;

 private:
  std::string PlaceName(int place) const;

  const Scenario& scenario_;
  std::map<std::tuple<Direction, What, Reason, int>, uint64_t> counts_;
  // Lateness of releases, in classes of powers of two microseconds: class i is below 2^i.
  std::vector<uint64_t> lateness_ = std::vector<uint64_t>(32);
  absl::Duration most_late_;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_RECORD_H_
