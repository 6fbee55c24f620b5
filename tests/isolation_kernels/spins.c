/* Defect: works for ever. */
static void spin(void) {
  for (unsigned volatile n = 0;; ++n) continue;
}
#define NAIVE_BEFORE(call) spin()
#include "naive.h"
