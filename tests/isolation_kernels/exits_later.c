/* Defect: answers well, and ends the process a moment after the call returned. */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void leave(int signal) {
  (void)signal;
  _exit(7);
}

static void leave_in_a_moment(void) {
  const struct itimerval moment = {{0, 0}, {0, 20000}};
  signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &moment, 0);
}
#define NAIVE_AFTER(call) leave_in_a_moment()
#include "naive.h"
