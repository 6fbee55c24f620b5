/* A kernel that never returns. Where ATTEST_TEST_HANGS names a file, it makes that file first, so that a test can wait for
 * the moment. */
#ifndef ATTEST_TESTS_HANGS_H
#define ATTEST_TESTS_HANGS_H

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static inline void hangs(void) {
  const char *mark = getenv("ATTEST_TEST_HANGS");
  if (mark) (void)!open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  for (;;) pause();
}

#endif
