// Intervals for proportions: losses of requests, failures of connects.
#ifndef ASSAY_CORE_STATISTICS_PROPORTION_H_
#define ASSAY_CORE_STATISTICS_PROPORTION_H_

#include <cstdint>
#include <optional>

#include "core/statistics/design_effect.h"
#include "core/statistics/interval.h"

namespace assay::statistics {

// Score interval for `events` in `trials` independent trials (Wilson, JASA 22, 1927):
//   (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
// Its mean coverage is near `confidence`, but it errs above that for some p: for display, not for
// decisions. Fractional counts are allowed, 0 <= events <= trials; [0, 1] for trials <= 0.
Interval Wilson(double events, double trials, double confidence);

// Exact interval (Clopper & Pearson, Biometrika 26, 1934) by the beta distribution:
//   [B(alpha/2; x, n-x+1), B(1-alpha/2; x+1, n-x)]
// Never errs above 1 - confidence, for any p. Fractional counts are allowed (effective samples).
Interval ClopperPearson(double events, double trials, double confidence);

// From this many runs on, runs without a single event (or with nothing but events) are taken at
// their face: 0 of n gives the exact bound (the rule of three). With no variance to be seen there
// is no design effect to be estimated; 1 is assumed. If a run is clean with probability q although
// the loss is at the threshold, m clean runs are luck with probability q^m: four keep that below
// 2.5 % for every q below 0.4. Rare outages that spare most runs break the assumption, and only
// more runs on more days find them (Criterion.min_days). Fewer runs pay as in design_effect.h.
inline constexpr double kUnanimousRuns = 4;

// A proportion over runs. Holds moments only: adding a run costs the same however many there were.
//
// The interval is Clopper-Pearson for p n* events in n* effective samples (Korn & Graubard 1998),
// except for the end on the side of the rarer outcome's surprises: for p <= 1/2 the upper one. Its
// variance is estimated from the few runs that show events, and is small just when luck has made p
// small: Korn-Graubard's upper end then lies below the truth in 4 to 8 % of bursty streams instead
// of 2.5 % (docs/decisions/0005-acceptance-statistics.md has the measurements). Three corrections,
// each of which vanishes as runs are added:
//  a. p and deff are taken with one more run like the worst one seen;
//  b. the unseen event that Clopper-Pearson adds (x + 1) is as large as the worst run's events, in
//     effective samples (as Fay & Feuer, "Confidence intervals for directly standardized rates",
//     Statistics in Medicine 16, 1997, do with their largest weight);
//  c. degrees of freedom are not m - 1 but the runs that show events, plus 1 (at least 3).
// The lower end for p > 1/2 is the mirror image.
class ClusteredProportion {
 public:
  // One run, 0 <= events <= trials. Without trials it changes nothing.
  void Add(uint64_t events, uint64_t trials);

  // nullopt without a trial.
  std::optional<Estimate> Estimated(double confidence) const;

  // The interval after `more` further runs like these. From a single run, whose design effect
  // cannot be known, 1 is assumed. [0, 1] without a trial. `least_design_effect`: what is known of
  // it from elsewhere, for the end that surprises threaten.
  Interval Project(uint32_t more, double confidence, double least_design_effect = 1) const;

 private:
  struct Run {
    double events = 0;
    double trials = 0;
  };
  // Seen from one of the two outcomes.
  struct Side {
    ClusterMoments moments;
    double showing = 0;  // runs with at least one event
    Run worst;           // of the highest share of events
  };

  static double Upper(const Side& side, double confidence, double least_design_effect);
  static double Lower(const Side& side, double confidence);
  Side Events(double factor) const;
  Side NonEvents(double factor) const;

  ClusterMoments moments_;
  double showing_events_ = 0;
  double showing_non_events_ = 0;
  Run most_;
  Run least_;
};

}  // namespace assay::statistics

#endif  // ASSAY_CORE_STATISTICS_PROPORTION_H_
