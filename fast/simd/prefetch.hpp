// Prefetching.
#pragma once

#include <hwy/base.h>

namespace attest::fast {

/// Asks for the cache line of an address, into the second-level cache: the first-level cache has too few places for
/// lines on their way from memory. (The empty statement keeps g++ 12 from dropping calls of a function that does
/// nothing else.)
HWY_INLINE void prefetch_line(void const* at) noexcept {
  __builtin_prefetch(at, 0, 2);
  asm volatile("");
}

/// The same into the first-level cache, for a line that the second level should have by now.
HWY_INLINE void prefetch_near(void const* at) noexcept {
  __builtin_prefetch(at, 0, 3);
  asm volatile("");
}

}  // namespace attest::fast
