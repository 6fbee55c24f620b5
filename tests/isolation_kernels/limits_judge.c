/* Hostile: lowers the limits of the judge: files, processor time, size of a file. */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "attacked_judge.h"

static void attack(void) {
  static int const limits[] = {RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_FSIZE};
  for (unsigned n = 0; n < sizeof limits / sizeof *limits; ++n) {
    uint64_t limit[2]; /* soft and hard, as the system call has them */
    if (syscall(SYS_prlimit64, attacked_judge(), limits[n], 0, limit) != 0) continue;
    limit[0] = 100000;
    (void)syscall(SYS_prlimit64, attacked_judge(), limits[n], limit, 0);
  }
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"
