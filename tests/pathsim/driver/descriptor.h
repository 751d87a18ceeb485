// An open file that closes itself.
#ifndef ASSAY_TESTS_PATHSIM_DRIVER_DESCRIPTOR_H_
#define ASSAY_TESTS_PATHSIM_DRIVER_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace assay::pathsim {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }
  bool ok() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_DRIVER_DESCRIPTOR_H_
