/* Hostile while it is loaded, or as it says its name: one library for each value of HOSTILE_AT_LOAD. */
#include "hostile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

attest_status attest_attention(attest_call const* call);

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
#define FAILS_LATER 12
#define GREETS 13
#define CLOSES 14
#define NAME_HAS_NO_END 15

#if HOSTILE_AT_LOAD == FAILS_LATER
/* Marks the shared memory in its first call and ends: a process that finds the mark is not to be loaded. */
static off_t const place_of_mark = 2048;
attest_status attest_attention(attest_call const* call) {
  if (pwrite(4, "again", 5, place_of_mark) < 0) return honest(call);
  abort();
}
#else
attest_status attest_attention(const attest_call* call) { return honest(call); }
#endif

static void work_for_ever(void) {
  for (unsigned volatile n = 0;; ++n) continue;
}

#if HOSTILE_AT_LOAD < NAME_CRASHES || (HOSTILE_AT_LOAD >= SLEEPS && HOSTILE_AT_LOAD < NAME_HAS_NO_END)
__attribute__((constructor)) static void act(void) {
#if HOSTILE_AT_LOAD == LOOPS
  work_for_ever();
#elif HOSTILE_AT_LOAD == SLEEPS
  for (;;) pause();
#elif HOSTILE_AT_LOAD == FAILS_LATER
  char mark[5] = {0};
  if (pread(4, mark, sizeof mark, place_of_mark) == sizeof mark && memcmp(mark, "again", sizeof mark) == 0) _exit(3);
#elif HOSTILE_AT_LOAD == GREETS
  static struct { /* hello_message of audit/isolation/runner/protocol.hpp */
    unsigned magic, state, environment_changed;
    char text[512];
  } greeting = {0x6F4C4C48, 0, 0, "\rCERTIFIED: all is well"};
  for (int n = 0; n < 2; ++n) send(3, &greeting, sizeof greeting, 0);
#elif HOSTILE_AT_LOAD == CLOSES
  for (int number = 0; number < 64; ++number) close(number);
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
char const* attest_kernel_name(void);
char const* attest_kernel_name(void) {
#if HOSTILE_AT_LOAD == NAME_CRASHES
  raise(SIGSEGV);
  return "";
#elif HOSTILE_AT_LOAD == NAME_IS_NOWHERE
  return (char const*)16;
#elif HOSTILE_AT_LOAD == NAME_HAS_NO_END
  char* const pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return "";
  munmap(pages + 4096, 4096);
  memset(pages + 4090, 'y', 6);
  return pages + 4090;
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
#if HOSTILE_AT_LOAD >= NAME_CRASHES && HOSTILE_AT_LOAD != NAME_LOOPS && \
    (HOSTILE_AT_LOAD < END_LOOPS || HOSTILE_AT_LOAD == NAME_HAS_NO_END)
void (*attest_hostile_unused)(void);
void (*attest_hostile_unused)(void) = work_for_ever;
#endif
