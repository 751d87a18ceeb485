// Binomial tail sums term by term, in long double: slow, and nothing in common with Boost's
// incomplete beta functions.
#ifndef ASSAY_TESTS_CORE_STATISTICS_ORACLE_H_
#define ASSAY_TESTS_CORE_STATISTICS_ORACLE_H_

#include <cmath>
#include <cstdint>

namespace assay::statistics {

// P(B <= k) for B binomial(n, p), 0 < p < 1, 0 <= k.
inline long double SlowBinomialCdf(int64_t k, int64_t n, long double p) {
  // (1-p)^n in logarithms, then each term from the one before.
  const long double log_p = std::log(p);
  const long double log_q = std::log1p(-p);
  long double log_choose = 0;
  long double sum = 0;
  for (int64_t i = 0; i <= k && i <= n; ++i) {
    if (i > 0) {
      log_choose +=
          std::log(static_cast<long double>(n - i + 1)) - std::log(static_cast<long double>(i));
    }
    sum += std::exp(log_choose + static_cast<long double>(i) * log_p +
                    static_cast<long double>(n - i) * log_q);
  }
  return sum;
}

}  // namespace assay::statistics

#endif  // ASSAY_TESTS_CORE_STATISTICS_ORACLE_H_
