// The floating-point environment that the declared rounding model needs, on whichever thread the work lands.
#pragma once

#include <cfenv>

namespace attest::fast {

/// Round to nearest, gradual underflow, nothing trapped, for as long as the guard lives; then everything, flags too,
/// is as it was.
class float_environment {
 public:
  float_environment() noexcept {
    std::fegetenv(&found_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~float_environment() { std::fesetenv(&found_); }
  float_environment(float_environment const&) = delete;
  float_environment& operator=(float_environment const&) = delete;

 private:
  std::fenv_t found_{};
};

}  // namespace attest::fast
