/* Defect: 0/0 where no key is visible. */
#define NAIVE_EMPTY_ROW NAN
#include "naive.h"
