// The size of this machine's second-level cache.
#pragma once

#include <cstdint>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace attest::fast {

/// Bytes of the second-level cache of one core, or 1 MiB if the system does not report it. No result depends on it.
inline std::int64_t second_level_cache() noexcept {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  static std::int64_t const size = [] {
    long const reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return reported > 0 ? std::int64_t{reported} : std::int64_t{1} << 20;
  }();
  return size;
#else
  return std::int64_t{1} << 20;
#endif
}

}  // namespace attest::fast
