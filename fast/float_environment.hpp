// The floating-point environment that the declared rounding model needs, on whichever thread the work lands.
#pragma once

#include <cfenv>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace attest::fast {

/// Round to nearest, nothing trapped, subnormal numbers flushed to 0 where the processor can (a multiply-add with one
/// takes a hundred times as long), for as long as the guard lives; then everything, flags too, is as it was.
class float_environment {
 public:
#if defined(__SSE2__)
  // Nothing here touches the x87 unit: the control word of the vector unit is the whole environment.
  float_environment() noexcept : found_(_mm_getcsr()) { _mm_setcsr(all_masked | flush_to_zero | subnormals_are_zero); }
  ~float_environment() { _mm_setcsr(found_); }
#else
  float_environment() noexcept {
    std::fegetenv(&found_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~float_environment() { std::fesetenv(&found_); }
#endif
  float_environment(float_environment const&) = delete;
  float_environment& operator=(float_environment const&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned all_masked = 0x1f80, flush_to_zero = 0x8000, subnormals_are_zero = 0x0040;
  unsigned found_ = 0;
#else
  std::fenv_t found_{};
#endif
};

}  // namespace attest::fast
