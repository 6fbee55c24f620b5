// What a kernel may read: the system's libraries, the folders of its own libraries, and the paths that the user
// allowed.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/isolation/runner/landlock.hpp"
#include "audit/isolation/runner/needs.hpp"
#include "audit/isolation/runner/privileges.hpp"
#include "audit/isolation/runner/protections.hpp"

namespace attest::audit::runner {

inline constexpr std::uint64_t readable = run_file | read_file | read_folder;

/// Allows the folder of a file, as it is named and as its links lead.
inline void allow_folder_of(landlock_rules& rules, char const* file) noexcept {
  char resolved[PATH_MAX];
  for (char const* name : {file, static_cast<char const*>(realpath(file, resolved))}) {
    char folder[PATH_MAX];
    if (!name || std::strlen(name) >= sizeof folder) continue;
    std::strcpy(folder, name);
    char* const end = std::strrchr(folder, '/');
    if (!end || end == folder) continue;  // never the whole file system
    *end = 0;
    rules.allow(folder, readable);
  }
}

/// Allows the folders of a variable, as PATH has them. Relative folders and the whole file system are left out.
inline void allow_folders_in(landlock_rules& rules, char const* variable) noexcept {
  char const* at = std::getenv(variable);
  while (at && *at) {
    char const* const end = strchrnul(at, ':');
    auto const bytes = static_cast<std::size_t>(end - at);
    char folder[PATH_MAX];
    if (bytes > 1 && bytes < sizeof folder && *at == '/') {
      std::memcpy(folder, at, bytes);
      folder[bytes] = 0;
      rules.allow(folder, readable);
    }
    at = *end ? end + 1 : end;
  }
}

/// The program that loads the libraries of this one.
inline char const* loader() noexcept {
  auto const* const headers = reinterpret_cast<ElfW(Phdr) const*>(getauxval(AT_PHDR));
  auto const count = getauxval(AT_PHNUM);
  std::uintptr_t base = 0;
  for (unsigned long n = 0; n < count; ++n)
    if (headers[n].p_type == PT_PHDR) base = reinterpret_cast<std::uintptr_t>(headers) - headers[n].p_vaddr;
  for (unsigned long n = 0; n < count; ++n)
    if (headers[n].p_type == PT_INTERP) return reinterpret_cast<char const*>(base + headers[n].p_vaddr);
  return nullptr;
}

/// Visits the libraries that loading `library` would load, and the libraries of LD_PRELOAD. None of their code runs.
/// The program that lists them has this process's right to read files: a library may lie where no other user may enter.
/// Source    ld.so(8): --list prints lines "name => path (address)" and "path (address)"
template <class F>
void visit_libraries(char const* library, F&& visit) noexcept {
  char const* const program = loader();
  int ends[2];
  if (!program || pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t const lists = vfork();
  if (lists == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    keep_capability();
    execl(program, program, "--list", library, static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::FILE* const lines = lists > 0 ? fdopen(ends[0], "re") : nullptr;
  if (!lines) {
    close(ends[0]);
  } else {
    char line[2 * PATH_MAX];
    while (std::fgets(line, sizeof line, lines)) {
      char* const path = std::strchr(line, '/');
      char* const end = std::strrchr(line, '(');
      if (!path || !end || end <= path + 1) continue;
      end[-1] = 0;  // the blank
      char* const arrow = std::strstr(line, "=> /");
      visit(arrow ? arrow + 3 : path);
    }
    std::fclose(lines);
  }
  if (lists > 0) waitpid(lists, nullptr, 0);
}

/// Refuses to read files that do not belong to the kernel.
/// Requires  no_new_privs; no code of the kernel has run
inline int restrict_reads(char const* library, char const* scratch_folder, kernel_needs const& needs) noexcept {
  if (landlock_rules::version() < 1) return errno;
  landlock_rules::handled const handled{run_file | read_file | read_folder, 0, 0};
  landlock_rules rules(handled, sizeof handled.files);
  for (char const* path : {"/usr",
                           "/lib",
                           "/lib32",
                           "/lib64",
                           "/libx32",
                           "/bin",
                           "/sbin",
                           "/opt",
                           "/nix/store",
                           "/gnu/store",
                           "/run/opengl-driver",
                           "/proc",
                           "/sys/devices/system",
                           "/sys/fs/cgroup",
                           "/sys/kernel/mm",
                           "/etc/ld.so.cache",
                           "/etc/ld.so.conf",
                           "/etc/ld.so.conf.d",
                           "/etc/ld.so.preload",
                           "/etc/alternatives",
                           "/etc/localtime",
                           "/etc/nsswitch.conf",
                           "/etc/passwd",
                           "/etc/group",
                           "/etc/locale.alias",
                           "/dev/null",
                           "/dev/zero",
                           "/dev/full",
                           "/dev/random",
                           "/dev/urandom"})
    rules.allow(path, readable);
  if (scratch_folder) rules.allow(scratch_folder, readable);
  if (needs.device) {
    for (char const* path : {"/sys", "/etc/OpenCL", "/etc/vulkan", "/etc/nvidia"}) rules.allow(path, readable);
    visit_accelerators([&](char const* path) { rules.allow(path, readable); });
  }
  if (needs.network)
    for (char const* path : {"/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/services", "/etc/protocols",
                             "/etc/gai.conf", "/etc/ssl", "/run/systemd/resolve"})
      rules.allow(path, readable);
  rules.allow("/proc/self/exe", readable);
  allow_folder_of(rules, library);
  visit_libraries(library, [&](char const* path) { allow_folder_of(rules, path); });
  for (char const* variable : {"LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX",
                               "CUDA_HOME", "CUDA_PATH", "ROCM_PATH"})
    allow_folders_in(rules, variable);
  for (int n = 0; n < needs.count; ++n)
    if (char const* const path = needs.readable(n)) rules.allow(path, readable);
  return rules.restrict_self();
}

}  // namespace attest::audit::runner
