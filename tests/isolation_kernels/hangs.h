/* A kernel that never returns. Where ATTEST_TEST_HANGS is a name, its process takes that name first, so that a test can
 * wait for the moment: a kernel cannot make a file. */
#ifndef ATTEST_TESTS_HANGS_H
#define ATTEST_TESTS_HANGS_H

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static inline void hangs(void) {
  char const* const name = getenv("ATTEST_TEST_HANGS");
  if (name) prctl(PR_SET_NAME, name);
  for (;;) pause();
}

#endif
