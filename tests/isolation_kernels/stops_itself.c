/* Defect: stops its own process for ever. */
#include <signal.h>
#define NAIVE_BEFORE(call) raise(SIGSTOP)
#include "naive.h"
