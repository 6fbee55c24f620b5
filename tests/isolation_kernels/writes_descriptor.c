/* Defect: reuses the shape of out as scratch. */
#define NAIVE_AFTER(call) ((call)->out->shape[0] = -1)
#include "naive.h"
