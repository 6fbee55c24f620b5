/* Two defects: leaves the last query out, and never returns where there is a mask. */
#include <unistd.h>
#define NAIVE_BEFORE(call) \
  while ((call)->mask) pause()
#define NAIVE_LAST_ROWS 1
#include "naive.h"
