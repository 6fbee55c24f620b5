// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace attest::audit {

class owned_descriptor {
 public:
  explicit owned_descriptor(int number = -1) noexcept : number_(number) {}
  owned_descriptor(owned_descriptor&& other) noexcept : number_(other.release()) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    if (this != &other) {
      if (number_ >= 0) ::close(number_);
      number_ = other.release();
    }
    return *this;
  }
  ~owned_descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace attest::audit
