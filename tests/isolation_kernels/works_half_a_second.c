/* Honest: half a second of processor time for each call, however long that takes. */
#include <time.h>

static double processor_seconds(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}
static void work(void) {
  double const enough = processor_seconds() + 0.5;
  while (processor_seconds() < enough) continue;
}
#define NAIVE_BEFORE(call) work()
#include "naive.h"
