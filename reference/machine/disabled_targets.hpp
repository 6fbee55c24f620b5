// Highway's targets that the machine tier is not compiled for. What remains is AVX-512 and AVX2, which give the
// same bits (lanes-inl.hpp), and the baseline; the tests run them all. Vectors of SVE have no size, and cannot be
// members of a class: on ARM it is NEON alone. To be included before hwy/foreach_target.h.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
