// The timetable's randomness: the same numbers on every platform and for ever, because a timetable
// is made again after a crash. SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014).
#ifndef ASSAY_CORE_SCHEDULE_JITTER_H_
#define ASSAY_CORE_SCHEDULE_JITTER_H_

#include <cstdint>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"

namespace assay::schedule {

class Jitter {
 public:
  explicit Jitter(uint64_t seed) : state_(seed) {}

  // A generator of its own for what `name` stands for. Fork("a").Fork("b") and Fork("ab") differ.
  Jitter Fork(absl::string_view name) const {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return Jitter(Mix(state_ ^ Mix(hash + name.size())));
  }
  Jitter Fork(uint64_t number) const { return Jitter(Mix(state_ ^ Mix(~number))); }

  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15); }

  // Uniform in [0, bound); 0 for a bound of 0. The bias is below 2^-64 * bound.
  uint64_t Below(uint64_t bound) {
    return absl::Uint128High64(absl::uint128(Next()) * absl::uint128(bound));
  }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace assay::schedule

#endif  // ASSAY_CORE_SCHEDULE_JITTER_H_
