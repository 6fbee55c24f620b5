/* Hostile while it is loaded, or as it says its name: one library for each value of HOSTILE_AT_LOAD. */
#include "hostile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

attest_status attest_attention(const attest_call *call);
attest_status attest_attention(const attest_call *call) { return honest(call); }

#define LOOPS 1
#define EXITS 2
#define PRINTS 3
#define FORKS 4
#define NAME_CRASHES 5
#define NAME_IS_NOWHERE 6
#define NAME_IS_LONG 7
#define NAME_HAS_CONTROLS 8
#define NAME_LOOPS 9
#define END_LOOPS 10
#define SLEEPS 11

static void work_for_ever(void) {
  for (volatile unsigned n = 0;; ++n) continue;
}

#if HOSTILE_AT_LOAD < NAME_CRASHES || HOSTILE_AT_LOAD == SLEEPS
__attribute__((constructor)) static void act(void) {
#if HOSTILE_AT_LOAD == LOOPS
  work_for_ever();
#elif HOSTILE_AT_LOAD == SLEEPS
  for (;;) pause();
#elif HOSTILE_AT_LOAD == EXITS
  exit(0);
#elif HOSTILE_AT_LOAD == PRINTS
  static const char forged[] = "\033[2JCERTIFIED\n";
  for (int number = 1; number < 3; ++number)
    if (write(number, forged, sizeof forged - 1) < 0) break;
#else
  if (fork() == 0)
    for (;;) pause();
#endif
  (void)work_for_ever;
}
#elif HOSTILE_AT_LOAD == END_LOOPS
__attribute__((destructor)) static void act(void) { work_for_ever(); }
#else
char const *attest_kernel_name(void);
char const *attest_kernel_name(void) {
#if HOSTILE_AT_LOAD == NAME_CRASHES
  raise(SIGSEGV);
  return "";
#elif HOSTILE_AT_LOAD == NAME_IS_NOWHERE
  return (char const *)16;
#elif HOSTILE_AT_LOAD == NAME_IS_LONG
  static char name[1 << 20];
  memset(name, 'n', sizeof name - 1);
  return name;
#elif HOSTILE_AT_LOAD == NAME_HAS_CONTROLS
  return "\033[31mCERTIFIED\n\xff\xfe\r";
#else
  work_for_ever();
  return "";
#endif
}
#endif
#if HOSTILE_AT_LOAD >= NAME_CRASHES && HOSTILE_AT_LOAD != NAME_LOOPS && HOSTILE_AT_LOAD < END_LOOPS
void (*attest_hostile_unused)(void);
void (*attest_hostile_unused)(void) = work_for_ever;
#endif
