/* Processes and threads that outlive a call, and too many of them. Each process takes the name that HOSTILE_NAME has,
 * by which a test finds it. */
#include "hostile.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void take_name(void) {
  char const* const name = getenv("HOSTILE_NAME");
  if (name) prctl(PR_SET_NAME, name);
}
static void live_on(void) {
  take_name();
  for (;;) pause();
}
/* Forks without end, and so do its children. */
HOSTILE(fork_bomb) {
  UNUSED;
  take_name();
  for (;;) fork();
}
/* Leaves a child in a session of its own at each call. */
HOSTILE(daemons) {
  UNUSED;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) live_on();
    _exit(0);
  }
}
/* Its child forks before it is killed, for ever: no list of processes is up to date. */
HOSTILE_ONCE(runs_from_the_list) {
  UNUSED;
  if (fork() == 0) {
    take_name();
    setsid();
    for (;;)
      if (fork() != 0) _exit(0);
  }
}
/* A child that ignores every signal that can be ignored. */
HOSTILE_ONCE(deaf_child) {
  UNUSED;
  if (fork() != 0) return;
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  live_on();
}
/* A child that answers in place of its parent, on the descriptor of the runner. */
HOSTILE_ONCE(child_keeps_channel) {
  UNUSED;
  if (fork() == 0) live_on();
}
/* Starts its own program anew, as another would. */
HOSTILE_ONCE(executes) {
  UNUSED;
  if (fork() == 0) {
    execl("/bin/sleep", "sleep", "1000", (char*)0);
    _exit(0);
  }
}
/* Becomes another program in the midst of a call. */
HOSTILE(becomes_another) {
  UNUSED;
  execl("/bin/true", "true", (char*)0);
}
/* Threads that work for ever, all processors full. */
static void* work(void* nothing) {
  for (unsigned volatile n = 0;; ++n) continue;
  return nothing;
}
HOSTILE_ONCE(busy_threads) {
  UNUSED;
  for (int n = 0; n < 8; ++n) {
    pthread_t id;
    pthread_create(&id, 0, work, 0);
  }
}
static void* sleep_on(void* nothing) {
  for (;;) pause();
  return nothing;
}
HOSTILE_ONCE(thousand_threads) {
  UNUSED;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int n = 0; n < 1000; ++n) {
    pthread_t id;
    pthread_create(&id, &small, sleep_on, 0);
  }
  usleep(300000);
}
/* The thread of the runner leaves; another one of the kernel stays. */
static void* exit_later(void* nothing) {
  usleep(10000);
  _exit(7);
  return nothing;
}
HOSTILE(leaves_its_thread) {
  UNUSED;
  pthread_t id;
  pthread_create(&id, 0, exit_later, 0);
  pthread_exit(0);
}
/* Gives itself real-time priority and the highest niceness. */
HOSTILE(takes_priority) {
  UNUSED;
  const struct sched_param most = {99};
  if (sched_setscheduler(0, SCHED_FIFO, &most) == 0) _exit(11);
  if (setpriority(PRIO_PROCESS, 0, -20) == 0) _exit(12);
}
