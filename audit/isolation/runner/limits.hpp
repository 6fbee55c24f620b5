// The limits of a kernel's process that Linux itself holds.
#pragma once

#include <cctype>
#include <cstdio>
#include <initializer_list>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attest::audit::runner {

/// As much time, files and processes as the system allows: the limits of a shell do not concern the kernel. No core
/// file: a limit of 1 byte also stops core dumps that are piped to a program, 0 does not (core(5)).
inline void raise_limits() noexcept {
  for (int const which : {RLIMIT_CPU, RLIMIT_NOFILE, RLIMIT_NPROC}) {
    rlimit limit{};
    auto const resource = static_cast<__rlimit_resource_t>(which);
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
  rlimit const no_core{1, 1};
  setrlimit(RLIMIT_CORE, &no_core);
}

/// No file of a kernel grows beyond the size of the scratch folder, nor does the file of the tensors: the memory of a
/// call is mapped, not written.
inline void limit_files() noexcept {
  constexpr rlim_t file_bytes = rlim_t{64} << 20;
  rlimit const files{file_bytes, file_bytes};
  setrlimit(RLIMIT_FSIZE, &files);
}

/// The threads of all processes of this user.
inline rlim_t threads_of_user() noexcept {
  rlim_t count = 0;
  DIR* const folder = opendir("/proc");
  if (!folder) return 0;
  uid_t const user = geteuid();
  while (dirent const* const entry = readdir(folder)) {
    if (!std::isdigit(static_cast<unsigned char>(entry->d_name[0]))) continue;
    char path[300];
    std::snprintf(path, sizeof path, "/proc/%s/status", entry->d_name);
    struct stat about{};
    if (stat(path, &about) != 0 || about.st_uid != user) continue;
    std::FILE* const status = std::fopen(path, "re");
    if (!status) continue;
    char line[256];
    unsigned threads = 0;
    while (std::fgets(line, sizeof line, status))
      if (std::sscanf(line, "Threads: %u", &threads) == 1) break;
    std::fclose(status);
    count += threads;
  }
  closedir(folder);
  return count;
}

/// The most processes and threads that a kernel can start, in addition to `others` of its user. The judge ends it
/// before, if it looks in time (process_limits). This limit is for kernels that start them faster than the judge looks.
/// Requires  a user without capabilities; a user namespace counts for itself (user_namespaces(7), since Linux 5.14)
inline void limit_processes(rlim_t others) noexcept {
  constexpr rlim_t most = 640;
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > others + most) limit = {others + most, others + most};
  setrlimit(RLIMIT_NPROC, &limit);
}

}  // namespace attest::audit::runner
