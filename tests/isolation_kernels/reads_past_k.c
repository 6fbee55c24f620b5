/* Defect: reads one element past the end of k. */
#define NAIVE_BEFORE(call)                                                                     \
  (void)*(volatile char*)naive_at((call)->k, (call)->k->shape[0] - 1, (call)->k->shape[1] - 1, \
                                  (call)->k->shape[2] - 1, (call)->k->shape[3])
#include "naive.h"
