#include "tests/pathsim/path/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::pathsim {

Random::Random(uint64_t seed, absl::string_view stream) : state_(seed) {
  for (char c : stream) {
    state_ = (Next() ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
}

uint64_t Random::Next() {
  uint64_t x = state_ += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double Random::Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double Random::Normal() {
  // Box and Muller; 1 - u lies in (0, 1].
  double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

absl::Duration DrawJitter(const Jitter& jitter, Random& random) {
  double factor = 0;
  switch (jitter.distribution) {
    case Jitter::Distribution::kConstant:
      return absl::ZeroDuration();
    case Jitter::Distribution::kUniform:
      factor = random.Uniform();
      break;
    case Jitter::Distribution::kNormal:
      factor = random.Normal();
      break;
    case Jitter::Distribution::kLognormal:
      factor = std::exp(jitter.shape * random.Normal());
      break;
    case Jitter::Distribution::kPareto:
      factor = std::pow(1 - random.Uniform(), -1 / jitter.shape) - 1;
      break;
  }
  // A heavy tail may give more than any clock holds.
  absl::Duration drawn = jitter.scale * std::min(factor, 1e6);
  return std::min(drawn, jitter.most);
}

}  // namespace assay::pathsim
