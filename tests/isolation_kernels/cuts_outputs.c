/* Within its bound, and off to one side: in f32 what it returns is cut, towards zero, instead of rounded. */
#include <math.h>

static inline float cut(double value) {
  float const next = (float)value;
  return fabs((double)next) > fabs(value) ? nextafterf(next, 0.0f) : next;
}

#define NAIVE_FLOAT(value) cut(value)
#include "naive.h"
