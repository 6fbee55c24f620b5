/* Defect: never returns. */
#include "hangs.h"
#define NAIVE_BEFORE(call) hangs()
#include "naive.h"
