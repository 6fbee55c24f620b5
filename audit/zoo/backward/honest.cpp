// Honest backward kernels of several designs.
#include "audit/zoo/backward/kernel.hpp"

ATTEST_BACKWARD(backward_from_lse, no_bug, "", "weights from the LSE, delta from dO and O, one row after the other"){};

ATTEST_BACKWARD(backward_in_base_2, no_bug, "", "the exponent is a difference of two products by log2(e)") {
  static constexpr F log2e = static_cast<F>(1.44269504088896340735992468100189214L);
  static F lse(backward_place<F> const& at) { return static_cast<F>(at.views.lse(at.b, at.h, at.i, 0)); }
  static F exp(F x) { return static_cast<F>(std::exp2(static_cast<double>(x * log2e))); }
};

ATTEST_BACKWARD(backward_rows_falling, no_bug, "", "dP sums from the last column to the first"){
    static F product(F const* d_o, F const* v, std::int64_t dv){F sum = 0;
for (std::int64_t c = dv; c-- > 0;) sum += d_o[c] * v[c];
return sum;
}
}
;
