#include "tests/pathsim/path/chooser.h"

#include "absl/strings/str_cat.h"
#include "tests/pathsim/packet/header.h"

namespace assay::pathsim {

bool Chooser::Chooses(uint8_t protocol) {
  if (protocol == kIcmp6) protocol = kIcmp;
  if (choice_->protocol != 0 && choice_->protocol != protocol) return false;
  ++ordinal_;
  switch (choice_->kind) {
    case Choice::Kind::kRatio:
      return random_.Uniform() < choice_->ratio;
    case Choice::Kind::kGilbert:
      bad_state_ = random_.Uniform() < (bad_state_ ? 1 - choice_->leave : choice_->enter);
      return random_.Uniform() < (bad_state_ ? choice_->bad : choice_->good);
    case Choice::Kind::kPackets:
      for (const auto& [first, last] : choice_->packets) {
        if (ordinal_ >= first && ordinal_ <= last) return true;
      }
      return false;
    case Choice::Kind::kEvery:
      return ordinal_ % choice_->every == 0;
  }
  return false;
}

bool AnyChooses(std::vector<Chooser>& choosers, uint8_t protocol) {
  bool any = false;
  for (Chooser& chooser : choosers) any |= chooser.Chooses(protocol);
  return any;
}

std::vector<Chooser> MakeChoosers(const std::vector<Choice>& choices, uint64_t seed,
                                  absl::string_view stream) {
  std::vector<Chooser> choosers;
  for (const Choice& choice : choices) {
    choosers.emplace_back(choice, seed, absl::StrCat(stream, "/", choosers.size()));
  }
  return choosers;
}

}  // namespace assay::pathsim
