/* Defect: takes lse for row-major, whatever its strides say. */
#define AS_COMPACT(call) (call)->lse
#include "as_compact.h"
