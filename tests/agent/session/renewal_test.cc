#include "agent/session/renewal.h"

#include <gtest/gtest.h>

namespace assay::session {
namespace {

const absl::Time kIssued = absl::FromUnixSeconds(1796000000);

tls::CertificateInfo Valid(absl::Duration from, absl::Duration to) {
  tls::CertificateInfo info;
  info.not_before = kIssued + from;
  info.not_after = kIssued + to;
  return info;
}

TEST(RenewAt, IsTwoThirdsOfTheTimeSinceItWasObtained) {
  struct Case {
    absl::Duration not_before, obtained, not_after, expected;
  };
  const Case cases[] = {
      // Set back five minutes by the issuer, for thirty days and for a minute.
      {-absl::Minutes(5), absl::ZeroDuration(), absl::Hours(720), absl::Hours(480)},
      {-absl::Minutes(5), absl::ZeroDuration(), absl::Minutes(1), absl::Seconds(40)},
      // A file of unknown age, and one from the future.
      {absl::ZeroDuration(), -absl::Hours(1), absl::Minutes(3), absl::Minutes(2)},
      {absl::ZeroDuration(), absl::Hours(9), absl::Minutes(3), absl::Minutes(3)},
  };
  for (const Case& c : cases) {
    absl::Time at = RenewAt(Valid(c.not_before, c.not_after), kIssued + c.obtained, 0);
    EXPECT_LE(absl::AbsDuration(at - (kIssued + c.expected)), absl::Milliseconds(1))
        << absl::FormatDuration(at - kIssued);
  }
}

TEST(RenewAt, IsBroughtForwardByAtMostATwentieth) {
  tls::CertificateInfo info = Valid(absl::ZeroDuration(), absl::Hours(60));
  EXPECT_EQ(RenewAt(info, kIssued, 0.5), kIssued + absl::Hours(40) - absl::Hours(1.5));
}

}  // namespace
}  // namespace assay::session
