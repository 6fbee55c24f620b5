/* Defect: leaves the rounding mode up. */
#include <fenv.h>
#define NAIVE_AFTER(call) fesetround(FE_UPWARD)
#include "naive.h"
