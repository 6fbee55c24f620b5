/* Hostile: leaves fifty children behind, each in a session of its own, with the name "left-behind". */
#include "leaves_children.h"
#define NAIVE_BEFORE(call) leave_children(50)
#include "naive.h"
