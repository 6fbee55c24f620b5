/* Defect: works for ever. */
static void spin(void) {
  for (volatile unsigned n = 0;; ++n) continue;
}
#define NAIVE_BEFORE(call) spin()
#include "naive.h"
