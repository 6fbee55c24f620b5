/* Defect: leaves the last query row out. */
#define NAIVE_LAST_ROWS 1
#include "naive.h"
