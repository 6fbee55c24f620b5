/* Defect: leaves flush-to-zero and denormals-are-zero on. */
#if defined(__x86_64__)
#include <xmmintrin.h>
#define NAIVE_AFTER(call) _mm_setcsr(_mm_getcsr() | 0x8040)
#else
#include <fenv.h>
#define NAIVE_AFTER(call) fesetround(FE_DOWNWARD)
#endif
#include "naive.h"
