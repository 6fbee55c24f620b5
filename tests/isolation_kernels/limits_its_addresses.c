/* Defect: answers rightly, and leaves its process too little address space for the tensors of another call. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit_addresses(void) {
  unsigned long pages = 0;
  FILE* const sizes = fopen("/proc/self/statm", "r");
  if (!sizes || fscanf(sizes, "%lu", &pages) != 1) _exit(9);
  fclose(sizes);
  rlim_t const bytes = pages * (rlim_t)sysconf(_SC_PAGESIZE) - ((rlim_t)2 << 20);  // less than the tensors of this call
  const struct rlimit little = {bytes, bytes};
  setrlimit(RLIMIT_AS, &little);
}
#define NAIVE_AFTER(call) limit_addresses()
#include "naive.h"
