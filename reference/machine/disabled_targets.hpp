// Highway's targets that the machine tier is not compiled for. What remains is one wide target, one of 256 bits, and
// the baseline; the tests run them all. To be included before hwy/foreach_target.h.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
