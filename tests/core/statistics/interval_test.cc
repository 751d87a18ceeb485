#include "core/statistics/interval.h"

#include <gtest/gtest.h>

#include "tests/core/statistics/oracle.h"

namespace assay::statistics {
namespace {

// Fisher & Yates, Statistical Tables, table III; more digits from R 4.2 qt() and qnorm().
TEST(DistributionTest, QuantilesAgreeWithPrintedTables) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963985, 1e-9);
  EXPECT_NEAR(NormalQuantile(0.995), 2.575829304, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.975, 1), 12.70620474, 1e-8);
  EXPECT_NEAR(StudentTQuantile(0.975, 2), 4.302652730, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.975, 3), 3.182446305, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.95, 9), 1.833112933, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.975, 1e7), 1.959963985, 1e-6);
}

TEST(DistributionTest, BinomialTailEqualsTheSumOfItsTerms) {
  for (int64_t n : {1, 2, 7, 72, 400, 3000}) {
    for (double p : {0.001, 0.05, 0.5, 0.95, 0.99}) {
      for (int64_t k = 0; k < n; k += 1 + n / 9) {
        EXPECT_NEAR(BinomialCdf(k, n, p), static_cast<double>(SlowBinomialCdf(k, n, p)), 1e-11)
            << "k " << k << " n " << n << " p " << p;
      }
    }
  }
}

TEST(DistributionTest, BinomialTailIsZeroBelowAndOneAbove) {
  EXPECT_EQ(BinomialCdf(-1, 10, 0.3), 0);
  EXPECT_EQ(BinomialCdf(10, 10, 0.3), 1);
  EXPECT_EQ(BinomialCdf(0, 0, 0.3), 1);
}

}  // namespace
}  // namespace assay::statistics
