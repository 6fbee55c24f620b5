/* The honest one: it must pass an audit. */
#include "naive.h"

char const* attest_kernel_name(void) { return "naive two-pass (C99, double)"; }
