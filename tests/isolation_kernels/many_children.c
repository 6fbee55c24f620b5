/* Hostile: starts more children than a kernel may have threads, each in a session of its own. */
#include "leaves_children.h"
#define NAIVE_BEFORE(call) leave_children(520)
#include "naive.h"
