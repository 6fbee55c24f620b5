/* Honest, and slow: each call sleeps for 20 ms. */
#include <time.h>

static void sleep_20_ms(void) {
  const struct timespec time = {0, 20000000};
  nanosleep(&time, 0);
}
#define NAIVE_BEFORE(call) sleep_20_ms()
#include "naive.h"
