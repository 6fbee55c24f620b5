/* Two defects: leaves the last query out, and never returns where there is a mask. */
#include "hangs.h"
#define NAIVE_BEFORE(call) \
  if ((call)->mask) hangs()
#define NAIVE_LAST_ROWS 1
#include "naive.h"
