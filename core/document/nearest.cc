#include "core/document/nearest.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace assay::document {
namespace {

constexpr size_t kLongestWord = 64;  // longer ones have no neighbours

std::string Folded(absl::string_view word) {
  std::string folded = absl::AsciiStrToLower(word);
  std::replace(folded.begin(), folded.end(), '-', '_');
  return folded;
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b) {
  // Three rows of the table: the swap looks two back.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string Nearest(absl::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kLongestWord) return "";
  const std::string folded = Folded(word);
  std::string best;
  int best_distance = 0;
  for (const std::string& candidate : known) {
    int distance = EditDistance(folded, Folded(candidate));
    int most = std::max(1, static_cast<int>(std::max(folded.size(), candidate.size()) / 3));
    // A word of two letters is near to most others.
    bool shares_nothing = distance >= static_cast<int>(std::min(folded.size(), candidate.size()));
    if (distance > most || shares_nothing) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace assay::document
