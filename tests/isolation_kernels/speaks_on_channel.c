/* Defect, and a hostile one: writes to every descriptor it can find, the runner's own channel among them. */
#include <unistd.h>
#define NAIVE_BEFORE(call) \
  for (int to = 3; to < 64; ++to) (void)!write(to, "all is well", 11)
#include "naive.h"

char const* attest_kernel_name(void) { return "\x1b[31mred\xff"; }
