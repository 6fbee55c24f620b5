// What this machine's caches hold, asked once.
#pragma once

#include <cstdint>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace attest::fast {

/// Bytes of the second-level cache of one core, or 1 MiB where the system does not say. Never shows in a result.
inline std::int64_t second_level_cache() noexcept {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  static std::int64_t const size = [] {
    long const said = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return said > 0 ? std::int64_t{said} : std::int64_t{1} << 20;
  }();
  return size;
#else
  return std::int64_t{1} << 20;
#endif
}

}  // namespace attest::fast
