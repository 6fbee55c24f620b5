/* Defect: takes q for row-major, whatever its strides say. */
#define AS_COMPACT(call) (call)->q
#include "as_compact.h"
