/* What the hostile kernels of this folder know of the process that judges them: by default it is their parent. A test
 * names it in ATTEST_TEST_JUDGE ("PID ADDRESS", of a 64-bit word in its memory that holds judge_word), as a kernel that
 * guesses well would. */
#ifndef ATTEST_TESTS_ATTACKED_JUDGE_H
#define ATTEST_TESTS_ATTACKED_JUDGE_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* What an attack that reaches the memory of the judge writes there. */
static uint64_t const forged_word = 0x666F726765642121u;

static inline pid_t attacked_judge(void) {
  char const* const known = getenv("ATTEST_TEST_JUDGE");
  return known ? (pid_t)strtol(known, 0, 10) : getppid();
}

static inline uintptr_t attacked_address(void) {
  char const* const known = getenv("ATTEST_TEST_JUDGE");
  char* rest = 0;
  if (!known) return 0;
  (void)strtol(known, &rest, 10);
  return (uintptr_t)strtoull(rest, 0, 0);
}

#endif
