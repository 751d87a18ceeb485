// Decides packet by packet what a Choice chooses.
#ifndef ASSAY_TESTS_PATHSIM_PATH_CHOOSER_H_
#define ASSAY_TESTS_PATHSIM_PATH_CHOOSER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/pathsim/path/random.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

class Chooser {
 public:
  // `stream` names its random numbers. `choice` must outlive it.
  Chooser(const Choice& choice, uint64_t seed, absl::string_view stream)
      : choice_(&choice), random_(seed, stream) {}

  // Called once for each packet, in order; `protocol` as in the IP header.
  bool Chooses(uint8_t protocol);

 private:
  const Choice* choice_;
  Random random_;
  uint64_t ordinal_ = 0;  // of the last packet that counted
  bool bad_state_ = false;
};

// Whether any of them chooses the packet. All of them are asked, so that each counts every packet.
bool AnyChooses(std::vector<Chooser>& choosers, uint8_t protocol);

// One for each choice, with streams of their own below `stream`.
std::vector<Chooser> MakeChoosers(const std::vector<Choice>& choices, uint64_t seed,
                                  absl::string_view stream);

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_PATH_CHOOSER_H_
