// Honest backward kernels of several designs.
#include "audit/zoo/backward/kernel.hpp"

ATTEST_BACKWARD(backward_from_lse, no_bug, "", "weights from the LSE, delta from dO and O, one row after the other") {};

ATTEST_BACKWARD(backward_in_base_2, no_bug, "", "the exponent is a difference of two products by log2(e)") {
  static constexpr F log2e = static_cast<F>(1.44269504088896340735992468100189214L);
  static F lse(backward_place<F> const& at) { return static_cast<F>(at.views.lse(at.b, at.h, at.i, 0)); }
  static F exp(F x) { return static_cast<F>(std::exp2(static_cast<double>(x * log2e))); }
};

ATTEST_BACKWARD(backward_rows_falling, no_bug, "", "dP sums from the last column to the first") {
  static F product(F const* d_o, F const* v, std::int64_t dv) {
    F sum = 0;
    for (std::int64_t c = dv; c-- > 0;) sum += d_o[c] * v[c];
    return sum;
  }
};

ATTEST_BACKWARD(backward_delta_of_weights, no_bug, "",
                "delta is the sum of P*dP, as autograd through a softmax has it") {
  static constexpr bool delta_of_weights = true;
};

ATTEST_BACKWARD(backward_expanded, no_bug, "", "dS is P*dP - P*delta") {
  static F dS(F weight, F dP, F delta) { return weight * dP - weight * delta; }
};

ATTEST_BACKWARD(backward_scaled_at_end, no_bug, "", "dQ and dK are multiplied by the scale when they are written") {
  static constexpr bool scales_at_end = true;
};

ATTEST_BACKWARD(backward_from_sums, no_bug, "", "the weights are e^(s - m)/l, formed again; rows from the last") {
  static constexpr bool sums_weights = true, rows_fall = true;
};

ATTEST_BACKWARD(backward_like_autograd, no_bug, "", "weights e^(s - m)/l, delta from them, dS expanded") {
  static constexpr bool sums_weights = true, delta_of_weights = true;
  static F dS(F weight, F dP, F delta) { return weight * dP - weight * delta; }
};
