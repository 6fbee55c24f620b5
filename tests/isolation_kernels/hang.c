/* Defect: never returns. */
#include <unistd.h>
#define NAIVE_BEFORE(call) \
  for (;;) pause()
#include "naive.h"
