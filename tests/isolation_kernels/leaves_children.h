/* Children that outlive a call: each is in a session of its own, and has another parent once the one between is gone.
 * Their name is what ATTEST_TEST_NAME says, so that a test finds them. */
#ifndef ATTEST_TESTS_LEAVES_CHILDREN_H
#define ATTEST_TESTS_LEAVES_CHILDREN_H

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void leave_children(int count) {
  char const* const name = getenv("ATTEST_TEST_NAME");
  for (int n = 0; n < count; ++n) {
    pid_t const between = fork();
    if (between == 0) {
      if (fork() != 0) _exit(0);
      setsid();
      prctl(PR_SET_NAME, name ? name : "left-behind");
      for (;;) pause();
    }
    if (between > 0) waitpid(between, 0, 0);
  }
}

#endif
