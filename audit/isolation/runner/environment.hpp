// The part of the floating-point environment that a kernel must not change, of the calling thread.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace attest::audit::runner {

/// Rounding mode, flush-to-zero, denormals-are-zero and trap masks; without the exception flags, which any arithmetic
/// sets.
inline std::uint64_t control_bits() noexcept {
  auto const rounding = static_cast<std::uint64_t>(std::fegetround());
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned exception_flags = 0x3F;
  std::uint16_t x87 = 0;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return rounding << 48 | static_cast<std::uint64_t>(x87) << 32 | (_mm_getcsr() & ~exception_flags);
#elif defined(__aarch64__)
  std::uint64_t fpcr = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return rounding << 48 ^ fpcr;
#else
  return rounding;
#endif
}

}  // namespace attest::audit::runner
