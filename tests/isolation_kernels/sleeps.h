/* Honest, and slow: each call sleeps for SLEEP_MILLISECONDS. */
#ifndef ATTEST_TESTS_SLEEPS_H
#define ATTEST_TESTS_SLEEPS_H

#include <time.h>

static void sleep_a_while(void) {
  const struct timespec time = {0, SLEEP_MILLISECONDS * 1000000};
  nanosleep(&time, 0);
}
#define NAIVE_BEFORE(call) sleep_a_while()
#include "naive.h"

#endif
