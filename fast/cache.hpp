// The sizes of this machine's caches. No result depends on them.
#pragma once

#include <cstdint>
#include <cstdio>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace attest::fast {

/// Bytes of the second-level cache of one core, or 1 MiB if the system does not report it.
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

/// Bytes of the third-level cache that the first core has, alone or with others, or 32 MiB if the system does not
/// report it. (sysconf adds the caches of a whole AMD processor together, but one core fills only its own.)
inline std::int64_t third_level_cache() noexcept {
  static std::int64_t const size = [] {
    long long kib = 0;
    if (std::FILE* const file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re")) {
      if (std::fscanf(file, "%lldK", &kib) != 1) kib = 0;
      std::fclose(file);
    }
    return std::int64_t{kib > 0 && kib < (1 << 30) ? kib : 32 << 10} << 10;
  }();
  return size;
}

}  // namespace attest::fast
