/* Defect: every key is visible, whatever mask and band say. */
#define NAIVE_VISIBLE(call, b, h, i, j) 1
#include "naive.h"
