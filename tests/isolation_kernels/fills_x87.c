/* Defect: leaves the stack of the x87 unit full, so that the next x87 arithmetic of the caller is NaN. */
static void fill(void) {
#if defined(__x86_64__) || defined(__i386__)
  for (int n = 0; n < 8; ++n) __asm__ volatile("fld1");
#endif
}
#define NAIVE_AFTER(call) fill()
#include "naive.h"
