// Random numbers that are the same on every machine, from independent streams.
#ifndef ASSAY_TESTS_PATHSIM_PATH_RANDOM_H_
#define ASSAY_TESTS_PATHSIM_PATH_RANDOM_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class Random {
 public:
  // Streams of different names under one seed are independent: adding a hop doesn't change what
  // happens at the others.
  Random(uint64_t seed, absl::string_view stream);

  uint64_t Next();
  // In [0, 1).
  double Uniform();
  // Mean 0, standard deviation 1.
  double Normal();

 private:
  uint64_t state_;
};

absl::Duration DrawJitter(const Jitter& jitter, Random& random);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_RANDOM_H_
