// Streams of samples with known truth. The same seed gives the same stream with every standard
// library: only the engine is taken from it.
#ifndef ASSAY_TESTS_CORE_STATISTICS_RANDOM_H_
#define ASSAY_TESTS_CORE_STATISTICS_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace assay::statistics {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // In (0, 1).
  double Uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }

  bool Chance(double probability) { return Uniform() < probability; }

  // Box & Muller.
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform());
  }

  // Marsaglia & Tsang 2000; shape < 1 by their boost.
  double Gamma(double shape) {
    if (shape < 1) return Gamma(shape + 1) * std::pow(Uniform(), 1 / shape);
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = Normal();
      const double v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log(Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

  double Beta(double a, double b) {
    const double x = Gamma(a);
    return x / (x + Gamma(b));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace assay::statistics

#endif  // ASSAY_TESTS_CORE_STATISTICS_RANDOM_H_
