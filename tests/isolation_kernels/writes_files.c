/* Hostile: writes to the file that ATTEST_TEST_FILE names, makes another beside it, and writes to what its own
 * descriptors 0 to 2 name. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_to(char const* name, int flags) {
  int const file = open(name, flags | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)!write(file, "certified\n", 10);
  close(file);
}
static void attack(void) {
  char name[4200];
  char const* const known = getenv("ATTEST_TEST_FILE");
  for (int number = 0; number < 3; ++number) {
    (void)!write(number, "certified\n", 10);
    (void)!ftruncate(number, 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", number);
    write_to(name, O_WRONLY | O_TRUNC);
  }
  if (!known) return;
  write_to(known, O_WRONLY | O_TRUNC);
  snprintf(name, sizeof name, "%s.forged", known);
  write_to(name, O_WRONLY | O_CREAT);
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"
