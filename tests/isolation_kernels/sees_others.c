/* Hostile: answers FAILED where it is root or sees a process that is not of its own: with more than two in /proc, or
 * the judge in it. */
#include <dirent.h>
#include <stdio.h>

#include "attacked_judge.h"

static int sees(void) {
  char name[64];
  int processes = 0;
  DIR* const all = opendir("/proc");
  if (!all) return 0;
  for (const struct dirent* one = readdir(all); one; one = readdir(all))
    processes += one->d_name[0] >= '0' && one->d_name[0] <= '9';
  closedir(all);
  snprintf(name, sizeof name, "/proc/%d", (int)attacked_judge());
  return processes > 2 || access(name, F_OK) == 0;
}
#define NAIVE_BEFORE(call) \
  if (getuid() == 0 || sees()) return ATTEST_FAILED
#include "naive.h"
