// The SIMD targets that the machine tier is compiled for: one wide, one of 256 bits, and the baseline; the tests run all.
// To be included before hwy/foreach_target.h.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
