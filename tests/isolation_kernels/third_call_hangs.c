/* Defect: the third call of a process never returns. */
static void hang_at_third(void) {
  static int calls;
  if (++calls == 3)
    for (volatile unsigned n = 0;; ++n) continue;
}
#define NAIVE_BEFORE(call) hang_at_third()
#include "naive.h"
