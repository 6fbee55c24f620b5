/* Defect: prints more than a pipe holds, a last line with control characters, and aborts. */
#include <stdio.h>
#include <stdlib.h>

static void give_up(void) {
  for (int n = 0; n < 20000; ++n) fputs("still here\n", stderr);
  fputs("out of \x1b[31mscratch\n\n", stderr);
  abort();
}
#define NAIVE_BEFORE(call) give_up()
#include "naive.h"
