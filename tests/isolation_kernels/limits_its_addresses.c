/* Defect: answers rightly, and leaves its process no address space for the tensors of another call. */
#include <sys/resource.h>

static void limit_addresses(void) {
  const struct rlimit little = {1 << 20, 1 << 20};
  setrlimit(RLIMIT_AS, &little);
}
#define NAIVE_BEFORE(call) limit_addresses()
#include "naive.h"
