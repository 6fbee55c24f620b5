/* Defect: takes out for row-major, whatever its strides say. */
#define AS_COMPACT(call) (call)->out
#include "as_compact.h"
