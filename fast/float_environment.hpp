// The floating-point environment that the kernel's declared model needs, on every thread that runs a part of it.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace attest::fast {

/// The treatment of subnormal numbers.
enum class subnormals : std::uint8_t { flushed, kept };

/// While the guard lives: rounding to nearest, no traps, and subnormal numbers flushed to 0 if the processor can do
/// that, unless they shall be kept. (A multiply-add with a subnormal operand takes a hundred times as long.) Its
/// destructor restores everything, flags too.
class float_environment {
 public:
#if defined(__SSE2__)
  // The kernel does not use the x87 unit, so the control word of the vector unit is the whole environment.
  explicit float_environment(subnormals small = subnormals::flushed) noexcept : saved_(_mm_getcsr()) {
    _mm_setcsr(all_masked | (small == subnormals::flushed ? flush_to_zero | subnormals_are_zero : 0u));
  }
  ~float_environment() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  explicit float_environment(subnormals small = subnormals::flushed) noexcept : saved_(control()) {
    set_control(small == subnormals::flushed ? flush_to_zero : 0);
  }
  ~float_environment() { set_control(saved_); }
#else
  explicit float_environment(subnormals = subnormals::flushed) noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~float_environment() { std::fesetenv(&saved_); }
#endif
  float_environment(float_environment const&) = delete;
  float_environment& operator=(float_environment const&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned all_masked = 0x1f80, flush_to_zero = 0x8000, subnormals_are_zero = 0x0040;
  unsigned saved_ = 0;
#elif defined(__aarch64__)
  /// FPCR.FZ: subnormal numbers are read and written as 0.
  /// Source    Arm Architecture Reference Manual for A-profile, C5.2.8
  static constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
  static std::uint64_t control() noexcept {
    std::uint64_t bits = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void set_control(std::uint64_t bits) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(bits)); }
  std::uint64_t saved_ = 0;
#else
  std::fenv_t saved_{};
#endif
};

}  // namespace attest::fast
