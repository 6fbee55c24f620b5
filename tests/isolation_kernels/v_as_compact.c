/* Defect: takes v for row-major, whatever its strides say. */
#define AS_COMPACT(call) (call)->v
#include "as_compact.h"
