/* The state of the processor, which the caller's next arithmetic depends on. */
#include "hostile.h"

#include <fenv.h>

HOSTILE(rounds_up) {
  UNUSED;
  fesetround(FE_UPWARD);
}
#ifdef __x86_64__
#include <xmmintrin.h>
HOSTILE(flushes_subnormals) {
  UNUSED;
  _mm_setcsr(_mm_getcsr() | 0x8040);
}
HOSTILE(narrows_x87) {
  UNUSED;
  unsigned short word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  word &= 0xFCFF;
  __asm__ volatile("fldcw %0" : : "m"(word));
}
HOSTILE(checks_alignment) {
  UNUSED;
  __asm__ volatile("pushf; orl $0x40000, (%%rsp); popf" : : : "memory", "cc");
}
#else
HOSTILE(flushes_subnormals) { UNUSED, fesetround(FE_UPWARD); }
HOSTILE(narrows_x87) { UNUSED, fesetround(FE_UPWARD); }
HOSTILE(checks_alignment) { UNUSED, fesetround(FE_UPWARD); }
#endif
