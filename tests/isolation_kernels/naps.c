/* Defect: never returns; it sleeps, and works a little in between. */
#include <time.h>

static void nap(void) {
  const struct timespec little = {0, 5000000};
  for (unsigned volatile n = 0;;)
    if (++n % 1000000 == 0) nanosleep(&little, 0);
}
#define NAIVE_BEFORE(call) nap()
#include "naive.h"
