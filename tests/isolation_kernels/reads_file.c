/* Answers where it can read the file that ATTEST_TEST_FILE names, and fails with its last words where it cannot. */
#include <stdio.h>
#include <stdlib.h>

static void read_file(void) {
  char const* const path = getenv("ATTEST_TEST_FILE");
  FILE* const file = path ? fopen(path, "r") : 0;
  if (!file) {
    perror(path);
    exit(3);
  }
  fclose(file);
}
#define NAIVE_BEFORE(call) read_file()
#include "naive.h"
