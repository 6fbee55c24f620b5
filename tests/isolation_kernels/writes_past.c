/* Defect: writes one element past the end of out. */
#define NAIVE_AFTER(call)                                                                                   \
  naive_store((call)->out, (call)->out->shape[0] - 1, (call)->out->shape[1] - 1, (call)->out->shape[2] - 1, \
              (call)->out->shape[3], 1.0)
#include "naive.h"
