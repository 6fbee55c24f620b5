/* Defect: reads one element before v. */
#define NAIVE_BEFORE(call) (void)*(volatile char*)naive_at((call)->v, 0, 0, 0, -1)
#include "naive.h"
