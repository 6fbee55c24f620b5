/* Defect: fills 600 MiB in every call, and frees them again. */
#include <stdlib.h>

static void fill_memory(void) {
  size_t const bytes = (size_t)600 << 20;
  char volatile* memory = malloc(bytes);
  for (size_t at = 0; memory && at < bytes; at += 4096) memory[at] = 1;
  free((void*)memory);
}
#define NAIVE_BEFORE(call) fill_memory()
#include "naive.h"
