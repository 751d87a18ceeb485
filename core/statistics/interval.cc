#include "core/statistics/interval.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace assay::statistics {
namespace {

namespace policies = boost::math::policies;

// No exceptions leave this folder: what cannot be computed is NaN or infinity, which decides
// nothing. Plain double: long double differs between processors, a verdict must not.
using Policy = policies::policy<
    policies::promote_double<false>, policies::domain_error<policies::ignore_error>,
    policies::pole_error<policies::ignore_error>, policies::overflow_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>,
    policies::rounding_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>>;

}  // namespace

double NormalQuantile(double p) {
  return boost::math::quantile(boost::math::normal_distribution<double, Policy>(0, 1), p);
}

double StudentTQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(
      boost::math::students_t_distribution<double, Policy>(degrees_of_freedom), p);
}

double BinomialCdf(int64_t k, int64_t n, double p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  // P(B <= k) = 1 - I_p(k + 1, n - k), NIST DLMF 8.17.5.
  return boost::math::ibetac(static_cast<double>(k) + 1, static_cast<double>(n - k), p, Policy());
}

double BetaQuantile(double p, double a, double b) {
  return boost::math::ibeta_inv(a, b, p, Policy());
}

}  // namespace assay::statistics
