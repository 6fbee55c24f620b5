/* The judge, its files and its terminal, by the ways that leave the obvious ones alone. The runner's first word is the
 * judge's process. */
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

static size_t read_words(char const* path, char* words, size_t most) {
  int const file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t const count = file < 0 ? 0 : read(file, words, most - 1);
  if (file >= 0) close(file);
  words[count < 0 ? 0 : count] = 0;
  return count < 0 ? 0 : (size_t)count;
}

static pid_t judge(void) {
  char words[4096];
  size_t const count = read_words("/proc/self/cmdline", words, sizeof words);
  size_t const first = strlen(words) + 1;
  return first < count ? (pid_t)strtol(words + first, 0, 10) : -1;
}

/* Has the judge give way to everything else: niceness, and order of input and output. */
MUST_BE_REFUSED(starves_judge) {
  UNUSED;
  pid_t const id = judge();
  int refused = setpriority(PRIO_PROCESS, (id_t)id, 19) != 0 && setpriority(PRIO_USER, 0, 19) != 0;
  return refused & (syscall(SYS_ioprio_set, 1, id, 3 << 13) != 0);
}

/* Has the judge and the waiting process killed by what becomes readable on its own descriptors. */
HOSTILE(signals_by_descriptor) {
  UNUSED;
  int ends[2];
  if (pipe(ends) != 0) return;
  pid_t const victims[] = {judge(), getppid()};
  for (int n = 0; n < 2; ++n) {
    for (int which = 0; which < 3; ++which) {
      int const file = which == 0 ? ends[0] : which == 1 ? 3 : 4;
      fcntl(file, F_SETOWN, victims[n]), fcntl(file, F_SETSIG, SIGKILL);
      fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_ASYNC);
    }
    (void)!write(ends[1], "x", 1);
    usleep(1000);
  }
  close(ends[0]), close(ends[1]);
}

/* Stops the judge through a descriptor of its process, and takes a descriptor from it. */
MUST_BE_REFUSED(signals_by_process_descriptor) {
  UNUSED;
  int const file = (int)syscall(SYS_pidfd_open, judge(), 0);
  if (file < 0) return 1;
  int const refused =
      syscall(SYS_pidfd_send_signal, file, SIGSTOP, 0, 0) != 0 && syscall(SYS_pidfd_getfd, file, 1, 0) < 0;
  close(file);
  return refused;
}

/* Opens, to write, what the command line of the judge names. */
MUST_BE_REFUSED(writes_named_files) {
  UNUSED;
  char path[64], words[4096];
  snprintf(path, sizeof path, "/proc/%d/cmdline", (int)judge());
  size_t const count = read_words(path, words, sizeof words);
  int opened = 0;
  for (size_t from = 0; from < count; from += strlen(words + from) + 1) {
    int const file = open(words + from, O_WRONLY | O_CLOEXEC);
    if (file < 0) continue;
    opened = 1;
    close(file);
  }
  return !opened;
}

/* Changes mode, owner, times and attributes of the user's file. */
MUST_BE_REFUSED(changes_modes) {
  UNUSED;
  char path[4096];
  char const* const folder = getenv("HOSTILE_FOLDER");
  snprintf(path, sizeof path, "%s/secret", folder ? folder : "");
  int refused = chmod(path, 0666) != 0;
  refused &= chown(path, geteuid(), getegid()) != 0 && utimensat(AT_FDCWD, path, 0, 0) != 0;
  return refused & (setxattr(path, "user.forged", "x", 1, 0) != 0);
}

/* Stops the output of the user's terminal, changes its size and modes, and takes what is typed. */
MUST_BE_REFUSED(takes_terminal) {
  UNUSED;
  char const* const known = getenv("HOSTILE_TERMINAL");
  const struct winsize size = {1, 1, 1, 1};
  struct termios modes;
  char typed[16];
  int const file = known ? open(known, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
  if (file < 0) return 1;
  int refused = ioctl(file, TIOCSTI, "x") != 0;
  refused &= tcflow(file, TCOOFF) != 0 && ioctl(file, TIOCSWINSZ, &size) != 0 && read(file, typed, sizeof typed) <= 0;
  if (tcgetattr(file, &modes) == 0) modes.c_lflag ^= ECHO, refused &= tcsetattr(file, TCSANOW, &modes) != 0;
  close(file);
  return refused;
}
