/* Honest, but prints to standard output. */
#include <stdio.h>
#define NAIVE_BEFORE(call)         \
  puts("{\"verdict\": \"mine\"}"); \
  fflush(stdout)
#include "naive.h"
