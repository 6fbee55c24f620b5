/* Signals: to everybody, to itself, and none at all; limits; the ways in which a process ends. */
#include "hostile.h"

#include <alloca.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <unistd.h>

/* Kills every process that it may signal. */
HOSTILE(kills_all) {
  UNUSED;
  kill(-1, SIGKILL);
}
HOSTILE(stops_all) {
  UNUSED;
  kill(-1, SIGSTOP);
}
/* Kills its process group, its parent, and the first process that it sees. */
HOSTILE(kills_group) {
  UNUSED;
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);
}
HOSTILE(kills_parent) {
  UNUSED;
  kill(getppid(), SIGKILL);
  usleep(20000);
}
HOSTILE(kills_first) {
  UNUSED;
  kill(1, SIGKILL);
}
static void* abort_now(void* nothing) {
  abort();
  return nothing;
}
HOSTILE(aborts_in_thread) {
  UNUSED;
  pthread_t id;
  pthread_create(&id, 0, abort_now, 0);
  pthread_join(id, 0);
}
HOSTILE(exits_with_zero) {
  UNUSED;
  exit(0);
}
HOSTILE(quick_exits) {
  UNUSED;
  quick_exit(5);
}
static void work_for_ever(void) {
  for (unsigned volatile n = 0;; ++n) continue;
}
/* Ends, except that a handler of its end runs for ever. */
HOSTILE(never_finishes_exit) {
  UNUSED;
  atexit(work_for_ever);
  exit(3);
}
HOSTILE(blocks_all_and_works) {
  UNUSED;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  work_for_ever();
}
HOSTILE(sleeps) {
  UNUSED;
  for (;;) pause();
}
HOSTILE(waits_for_itself) {
  UNUSED;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&lock);
}
static int deeper(char volatile* above) {
  char volatile here[4096];
  here[0] = above[0];
  return deeper(here) + here[0];
}
HOSTILE(recurses) {
  UNUSED;
  char first[1] = {0};
  deeper(first);
}
HOSTILE(takes_the_stack) {
  UNUSED;
  char volatile* const much = alloca((size_t)1 << 30);
  much[0] = 1;
}
/* Takes the handlers of the runner away, then reads address 0; leaves the handler by a jump. */
HOSTILE(ignores_faults) {
  UNUSED;
  signal(SIGSEGV, SIG_IGN);
  *(char volatile*)0;
}
static sigjmp_buf back;
static void jump(int number) { siglongjmp(back, number); }
HOSTILE(jumps_out_of_a_fault) {
  UNUSED;
  signal(SIGSEGV, jump);
  if (sigsetjmp(back, 1) == 0) *(char volatile*)0;
}
/* Asks for the end of time: its own limits are as low as they go. */
HOSTILE(limits_its_time) {
  UNUSED;
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CPU, &none);
  work_for_ever();
}
HOSTILE(limits_its_files) {
  UNUSED;
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  setrlimit(RLIMIT_NPROC, &none);
  setrlimit(RLIMIT_FSIZE, &none);
}
HOSTILE(divides_by_zero) {
  UNUSED;
  feenableexcept(FE_INVALID | FE_DIVBYZERO);
}
HOSTILE(traces_itself) {
  UNUSED;
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGTRAP);
}
HOSTILE(survives_its_parent) {
  UNUSED;
  prctl(PR_SET_PDEATHSIG, 0);
  kill(getppid(), SIGKILL);
}
