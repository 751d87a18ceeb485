// Runs a path in real time between two namespaces.
//
// A packet's time on the path begins with the kernel's stamp of its sending and not with its
// reading, so a late wake-up doesn't lengthen any delay that is longer than it is late. Before each
// release the driver wakes a little early and waits in a busy loop. Every line of the record has
// both the time at which a packet was due and the one at which it was really released.
#ifndef ASSAY_TESTS_PATHSIM_DRIVER_DRIVER_H_
#define ASSAY_TESTS_PATHSIM_DRIVER_DRIVER_H_

#include <fstream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tests/pathsim/driver/descriptor.h"
#include "tests/pathsim/driver/name_space.h"
#include "tests/pathsim/driver/tun.h"
#include "tests/pathsim/path/path.h"
#include "tests/pathsim/path/record.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

struct DriverOptions {
  std::string near_name, far_name;  // of the namespaces that it makes
  std::string record_file;          // empty: no record
  // Asks for SCHED_FIFO while it runs; without the right to it runs as any program.
  bool real_time = true;
};

class Driver {
 public:
  // Makes the namespaces and devices: packets can be sent from here on, and wait.
  static absl::StatusOr<std::unique_ptr<Driver>> Create(Scenario scenario, DriverOptions options);
  // Removes them.
  ~Driver() = default;

  // Moves packets until one of `stop_descriptors` can be read; returns its index. At the end the
  // record is complete, totals included. Call it once, from any one thread.
  absl::StatusOr<int> Run(absl::Span<const int> stop_descriptors);

  // After Run().
  const Record& record() const { return record_; }

 private:
  Driver(Scenario scenario, DriverOptions options, NameSpaces name_spaces, Tun near, Tun far);
  absl::Status Open();
  // Since the epoch of the path.
  absl::Duration Now() const;
  void WriteStart(bool real_time);
  // Sleeps until something can be read or the next step of the path is near. The index of a stop
  // descriptor, or -1.
  absl::StatusOr<int> Sleep();
  void TakeIn();
  absl::Status Release();
  void Flush();

  DriverOptions options_;
  NameSpaces name_spaces_;
  Tun near_, far_;
  Path path_;
  Record record_;
  Outcome outcome_;
  Descriptor epoll_, timer_;
  absl::Duration epoch_;  // on CLOCK_MONOTONIC
  std::ofstream file_;
  std::string text_;  // not yet in the file
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_DRIVER_DRIVER_H_
