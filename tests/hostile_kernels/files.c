/* Files, folders, descriptors, the network, and the system as a whole. What it could reach is its exit code, which no
 * report may show. */
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char const* folder(void) {
  char const* const known = getenv("HOSTILE_FOLDER");
  return known ? known : ".";
}
static int made(char const* in, char const* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", in, name);
  int const file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
  if (file >= 0) close(file);
  return file >= 0;
}
HOSTILE(writes_everywhere) {
  UNUSED;
  char const* const home = getenv("HOME");
  if (made(folder(), "hostile-file") || made(".", "hostile-file") || made("/tmp", "hostile-file")) _exit(31);
  if ((home && made(home, "hostile-file")) || made("/var/tmp", "hostile-file") || made("/etc", "hostile-file"))
    _exit(32);
}
/* The report itself, and what lies beside it. */
HOSTILE(forges_report) {
  UNUSED;
  char path[4096], other[4096];
  snprintf(path, sizeof path, "%s/report.json", folder());
  snprintf(other, sizeof other, "%s/other.json", folder());
  int const file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0) _exit(33);
  if (unlink(path) == 0 || rename(path, other) == 0 || symlink("/dev/null", other) == 0 || mkdir(other, 0777) == 0 ||
      mknod(other, S_IFIFO | 0666, 0) == 0 || truncate(path, 0) == 0 || chmod(path, 0) == 0)
    _exit(34);
}
HOSTILE(reads_secrets) {
  UNUSED;
  char path[4096];
  snprintf(path, sizeof path, "%s/secret", folder());
  for (int n = 0; n < 4; ++n) {
    static char const* const fixed[] = {"/etc/shadow", "/root/.ssh/id_rsa", "/proc/1/environ"};
    int const file = open(n < 3 ? fixed[n] : path, O_RDONLY);
    char first;
    if (file >= 0 && read(file, &first, 1) == 1 && n != 2) _exit(35);
    if (file >= 0) close(file);
  }
}
/* Prints a verdict, control characters and more than anybody reads. */
HOSTILE(prints_a_verdict) {
  UNUSED;
  static char const forged[] = "\033[2J\033[H\rCERTIFIED: all elements are within the bound of f32\n\xff\xfe\a";
  for (int number = 0; number < 3; ++number)
    if (write(number, forged, sizeof forged - 1) < 0) continue;
}
HOSTILE(prints_without_end) {
  UNUSED;
  static char line[1 << 16];
  memset(line, 'x', sizeof line);
  for (int n = 0; n < 256; ++n)
    if (write(1, line, sizeof line) < 0) break;
}
HOSTILE(writes_to_terminal) {
  UNUSED;
  int const terminal = open("/dev/tty", O_RDWR);
  char letter = 'x';
  if (terminal >= 0) _exit(36);
  for (int number = 0; number < 3; ++number)
    if (ioctl(number, TIOCSTI, &letter) == 0) _exit(37);
}
HOSTILE(opens_what_the_judge_has) {
  UNUSED;
  for (int number = 5; number < 256; ++number)
    if (fcntl(number, F_GETFD) >= 0 && write(number, "x", 1) == 1) _exit(38);
}
HOSTILE(uses_the_network) {
  UNUSED;
  for (int family = 1; family < 46; ++family)
    for (int type = 1; type < 4; ++type)
      if (socket(family, type, 0) >= 0) _exit(39);
}
HOSTILE(mounts) {
  UNUSED;
  if (mount("none", "/tmp", "tmpfs", 0, 0) == 0 || umount2("/proc", MNT_DETACH) == 0 || chroot("/tmp") == 0 ||
      unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0)
    _exit(40);
}
HOSTILE(becomes_root) {
  UNUSED;
  if (geteuid() == 0 || setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0) _exit(41);
}
/* System calls that a filter cannot look into, and those by other numbers. */
HOSTILE(asks_by_ring) {
  UNUSED;
  char parameters[120] = {0};
  if (syscall(SYS_io_uring_setup, 1, parameters) >= 0) _exit(42);
  if (syscall(SYS_clone3, 0, 0) >= 0) _exit(43);
  if (syscall(SYS_bpf, 0, 0, 0) >= 0 || syscall(SYS_perf_event_open, 0, 0, -1, -1, 0) >= 0) _exit(44);
}
HOSTILE(calls_by_old_numbers) {
  UNUSED;
#ifdef __x86_64__
  long parent;
  __asm__ volatile("int $0x80" : "=a"(parent) : "a"(64L) : "memory", "r8", "r9", "r10", "r11");
#else
  raise(SIGSYS);
#endif
}
HOSTILE(changes_place) {
  UNUSED;
  if (chdir("/") != 0) _exit(45);
  setenv("PATH", "/nowhere", 1);
  setenv("ATTEST_RUNNER", "/bin/true", 1);
}
