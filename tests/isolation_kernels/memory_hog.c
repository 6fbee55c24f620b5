/* Defect: fills 600 MiB in every call, and frees them again. */
#include <stdlib.h>

static void fill_memory(void) {
  const size_t bytes = (size_t)600 << 20;
  volatile char *memory = malloc(bytes);
  for (size_t at = 0; memory && at < bytes; at += 4096) memory[at] = 1;
  free((void *)memory);
}
#define NAIVE_BEFORE(call) fill_memory()
#include "naive.h"
