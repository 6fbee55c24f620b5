/* Defect: stops its own process, which nobody wakes. */
#include <signal.h>
#define NAIVE_BEFORE(call) raise(SIGSTOP)
#include "naive.h"
