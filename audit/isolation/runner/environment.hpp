// The part of the floating-point environment that a kernel must not change, of the calling thread.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace attest::audit::runner {

#if defined(__x86_64__) || defined(__i386__)
/// Is the stack of the x87 unit empty? On a full stack, the next x87 arithmetic is NaN. MMX without emms fills it.
/// Source    System V ABI, AMD64 supplement, 3.2.3: it is empty on entry to a function, and on return
inline bool x87_stack_is_empty() noexcept {
  struct {
    std::uint32_t control, status, tags, others[4];
  } unit;
  __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(unit));  // storing it masks the exceptions
  return (unit.tags & 0xFFFF) == 0xFFFF;
}
#endif

/// Restores the state that control_bits reads in the calling thread, from std::fegetenv with an empty x87 stack.
inline void restore(std::fenv_t const& environment) noexcept {
#if defined(__x86_64__) || defined(__i386__)
  if (!x87_stack_is_empty()) __asm__ volatile("fninit");
#endif
  std::fesetenv(&environment);
}

/// Rounding mode, flush-to-zero, denormals-are-zero, trap masks and whether the x87 stack is empty; without the
/// exception flags, which any arithmetic sets.
inline std::uint64_t control_bits() noexcept {
  auto const rounding = static_cast<std::uint64_t>(std::fegetround());
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned exception_flags = 0x3F;
  std::uint16_t x87 = 0;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return std::uint64_t{x87_stack_is_empty()} << 63 | rounding << 48 | static_cast<std::uint64_t>(x87) << 32 |
         (_mm_getcsr() & ~exception_flags);
#elif defined(__aarch64__)
  std::uint64_t fpcr = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return rounding << 48 ^ fpcr;
#else
  return rounding;
#endif
}

}  // namespace attest::audit::runner
