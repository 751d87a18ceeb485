#include "core/statistics/proportion.h"

#include <algorithm>
#include <cmath>

namespace assay::statistics {
namespace {

double Proportion(const ClusterMoments& moments) { return moments.sum / moments.count; }

double BinomialVariance(const ClusterMoments& moments) {
  const double p = Proportion(moments);
  return p * (1 - p) / moments.count;
}

}  // namespace

Interval Wilson(double events, double trials, double confidence) {
  if (!(trials > 0)) return {0, 1};
  const double p = events / trials;
  const double z = NormalQuantile((1 + confidence) / 2);
  const double z2n = z * z / trials;
  const double centre = p + z2n / 2;
  const double half = std::sqrt(z2n * (p * (1 - p) + z2n / 4));
  return {std::max(0.0, (centre - half) / (1 + z2n)), std::min(1.0, (centre + half) / (1 + z2n))};
}

Interval ClopperPearson(double events, double trials, double confidence) {
  if (!(trials > 0)) return {0, 1};
  const double tail = (1 - confidence) / 2;
  Interval interval{0, 1};
  if (events > 0) interval.low = BetaQuantile(tail, events, trials - events + 1);
  if (events < trials) interval.high = BetaQuantile(1 - tail, events + 1, trials - events);
  return interval;
}

void ClusteredProportion::Add(uint64_t events, uint64_t trials) {
  if (trials == 0) return;
  const Run run{static_cast<double>(events), static_cast<double>(trials)};
  // Shares are compared crosswise, which is exact; of equal shares the larger run stands.
  auto beats = [](double a, double a_of, double b, double b_of) {
    return b_of == 0 || a * b_of > b * a_of || (a * b_of == b * a_of && a_of > b_of);
  };
  if (beats(run.events, run.trials, most_.events, most_.trials)) most_ = run;
  if (beats(run.trials - run.events, run.trials, least_.trials - least_.events, least_.trials)) {
    least_ = run;
  }
  moments_.Add(run.events, run.trials);
  showing_events_ += events > 0;
  showing_non_events_ += events < trials;
}

ClusteredProportion::Side ClusteredProportion::Events(double factor) const {
  return {moments_.Scaled(factor), showing_events_ * factor, most_};
}

ClusteredProportion::Side ClusteredProportion::NonEvents(double factor) const {
  ClusterMoments mirrored = moments_;
  mirrored.sum = moments_.count - moments_.sum;
  mirrored.cross = moments_.count_square - moments_.cross;
  mirrored.sum_square = moments_.count_square - 2 * moments_.cross + moments_.sum_square;
  return {mirrored.Scaled(factor),
          showing_non_events_ * factor,
          {least_.trials - least_.events, least_.trials}};
}

// The end that surprises threaten.
double ClusteredProportion::Upper(const Side& side, double confidence, double least_design_effect) {
  const ClusterMoments& moments = side.moments;
  if (moments.runs < 2 || moments.runs >= moments.count) {
    // Independent samples, or a single run: nothing to be estimated, nothing to be corrected.
    const double effective = EffectiveSamples(moments, 1, confidence);
    return ClopperPearson(Proportion(moments) * effective, effective, confidence).high;
  }
  if (moments.sum <= 0) {
    const double price = moments.runs >= kUnanimousRuns
                             ? 1
                             : PriceOfFewRuns(moments.count, moments.runs - 1, confidence);
    return ClopperPearson(0, moments.count / least_design_effect * price, confidence).high;
  }
  ClusterMoments with_worst = moments;
  with_worst.Add(side.worst.events, side.worst.trials);
  const double p = Proportion(with_worst);
  const double design_effect =
      std::max(least_design_effect, DesignEffect(with_worst, BinomialVariance(with_worst)));
  const double degrees = std::min(moments.runs - 1, std::max(3.0, side.showing + 1));
  const double effective =
      moments.count / design_effect * PriceOfFewRuns(moments.count, degrees, confidence);
  const double unseen = std::max(1.0, side.worst.events / design_effect);
  return BetaQuantile((1 + confidence) / 2, p * effective + unseen, (1 - p) * effective);
}

double ClusteredProportion::Lower(const Side& side, double confidence) {
  const double effective = EffectiveSamples(
      side.moments, DesignEffect(side.moments, BinomialVariance(side.moments)), confidence);
  return ClopperPearson(Proportion(side.moments) * effective, effective, confidence).low;
}

Interval ClusteredProportion::Project(uint32_t more, double confidence,
                                      double least_design_effect) const {
  if (moments_.count <= 0) return {0, 1};
  const double factor = (moments_.runs + more) / moments_.runs;
  if (2 * moments_.sum <= moments_.count) {
    const Side side = Events(factor);
    return {Lower(side, confidence), Upper(side, confidence, least_design_effect)};
  }
  const Side side = NonEvents(factor);
  return {1 - Upper(side, confidence, least_design_effect), 1 - Lower(side, confidence)};
}

std::optional<Estimate> ClusteredProportion::Estimated(double confidence) const {
  if (moments_.count <= 0) return std::nullopt;
  Estimate estimate;
  estimate.value = Proportion(moments_);
  estimate.interval = Project(0, confidence);
  estimate.samples = static_cast<uint64_t>(moments_.count);
  estimate.runs = static_cast<uint32_t>(moments_.runs);
  estimate.design_effect = DesignEffect(moments_, BinomialVariance(moments_));
  const bool unanimous = moments_.sum <= 0 || moments_.sum >= moments_.count;
  estimate.effective_samples = unanimous && moments_.runs >= kUnanimousRuns
                                   ? moments_.count
                                   : EffectiveSamples(moments_, estimate.design_effect, confidence);
  return estimate;
}

}  // namespace assay::statistics
