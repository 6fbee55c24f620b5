/* Defect: flush-to-zero from the moment it is loaded, as libraries linked with -ffast-math had it. */
#if defined(__x86_64__)
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
#else
#include <fenv.h>
__attribute__((constructor)) static void flush(void) { fesetround(FE_DOWNWARD); }
#endif
#include "naive.h"
