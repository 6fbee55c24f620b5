/* Hostile: leaves a child behind at each call. */
#include "leaves_children.h"
#define NAIVE_BEFORE(call) leave_children(1)
#include "naive.h"
