/* Defect: the third call of a process never returns. */
static void hang_at_third(void) {
  static int calls;
  if (++calls == 3)
    for (unsigned volatile n = 0;; ++n) continue;
}
#define NAIVE_BEFORE(call) hang_at_third()
#include "naive.h"
