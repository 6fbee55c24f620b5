/* Defect: writes through a null pointer. */
static int* volatile nowhere;
#define NAIVE_BEFORE(call) (*nowhere = 1)
#include "naive.h"
