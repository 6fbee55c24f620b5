/* Defect: query 1023 does not see key 0. */
#define NAIVE_VISIBLE(call, b, h, i, j) (((i) != 1023 || (j) != 0) && naive_visible(call, b, h, i, j))
#include "naive.h"
