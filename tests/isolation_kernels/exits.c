/* Defect: ends the process, as if all were well. */
#define NAIVE_BEFORE(call) exit(0)
#include "naive.h"
