// The processes below this one: where the system permits no PID namespace, they end one by one.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attest::audit::runner {

struct seen_process {
  pid_t id, parent;
  char state;  ///< as in proc(5): R, S, D, T, Z …
  bool below;
  bool ended;  ///< and no thread of it lives: the first may end before the others
};

/// Calls f(process) for each process below this one, by a look at all of /proc.
template <class F>
void visit_descendants(F&& f) noexcept {
  constexpr std::size_t most = 1 << 16;
  static seen_process seen[most];
  std::size_t count = 0;
  DIR* const folder = opendir("/proc");
  if (!folder) return;
  while (dirent const* const entry = readdir(folder)) {
    char path[300], text[512];
    pid_t const id = std::atoi(entry->d_name);
    if (id <= 0 || count == most) continue;
    std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(id));
    std::FILE* const file = std::fopen(path, "re");
    if (!file) continue;
    std::size_t const bytes = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[bytes] = 0;
    char const* const name_end = std::strrchr(text, ')');
    seen_process& one = seen[count];
    one = {};
    int parent = 0, threads = 0;
    if (!name_end || std::sscanf(name_end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %d",
                                 &one.state, &parent, &threads) != 3)
      continue;
    one.id = id, one.parent = parent;
    one.ended = one.state == 'X' || (one.state == 'Z' && threads <= 1);
    ++count;
  }
  closedir(folder);
  pid_t const self = getpid();
  for (bool more = true; more;) {
    more = false;
    for (std::size_t n = 0; n < count; ++n) {
      if (seen[n].below) continue;
      bool below = seen[n].parent == self;
      for (std::size_t of = 0; of < count && !below; ++of) below = seen[of].below && seen[of].id == seen[n].parent;
      if (below) seen[n].below = more = true;
    }
  }
  for (std::size_t n = 0; n < count; ++n)
    if (seen[n].below) f(seen[n]);
}

/// Kills every process below this one, whatever it does meanwhile. All are stopped first, since a running process could
/// start others as fast as they are killed.
inline void kill_descendants() noexcept {
  for (;;) {
    constexpr int most_looks = 200;
    bool running = true;
    for (int look = 0; running && look < most_looks; ++look) {
      running = false;
      visit_descendants([&](seen_process const& one) {
        if (one.state == 'T' || one.ended) return;
        kill(one.id, SIGSTOP);
        running = true;
      });
      if (running) usleep(2000);
    }
    visit_descendants([](seen_process const& one) { kill(one.id, SIGKILL); });
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) continue;
    if (ended < 0 && errno == ECHILD) return;
    usleep(1000);
  }
}

}  // namespace attest::audit::runner
