// Backward kernels with one mistake each: the derivative of the softcap, sinks, dropout, strides, unusual calls.
#include "audit/zoo/backward/kernel.hpp"

// --- softcap, sinks, dropout, strides ---

ATTEST_BACKWARD(softcap_without_slope, bug_class::gradient, "", "the derivative of the softcap is left out") {
  static F slope(F, F) { return 1; }
};

ATTEST_BACKWARD(softcap_slope_1_minus_tanh, bug_class::gradient, "", "the derivative of the softcap is 1 - tanh") {
  static F slope(F t, F) { return F(1) - t; }
};

ATTEST_BACKWARD(softcap_slope_of_uncapped, bug_class::gradient, "", "the derivative of the softcap is 1 - (x/c)^2") {
  static F slope(F, F over_cap) { return std::max(F(0), F(1) - over_cap * over_cap); }
};

ATTEST_BACKWARD(dsink_with_wrong_sign, bug_class::gradient, "", "dSink has the other sign") {
  static F sink_sign() { return 1; }
};

ATTEST_BACKWARD(dsink_not_normalised, bug_class::gradient, "", "dSink has e^t for the sink's weight") {
  static F sink_weight(backward_place<F> const&, F t) { return honest_backward<F>::exp(t); }
};

ATTEST_BACKWARD(dropout_not_in_dv, bug_class::gradient, "", "dropout is not applied in the backward pass") {
  static F keeps(backward_place<F> const&, std::int64_t) { return 1; }
};

ATTEST_BACKWARD(strides_of_o_for_do, bug_class::gradient, "flash-attention#355", "dO is read with the strides of O") {
  static F const* d_out(backward_place<F> const& at) {
    auto read = at.p.d_out();
    read.stride = at.views.o.stride;
    return read.row(at.b, at.h, at.i);
  }
};

ATTEST_BACKWARD(do_read_as_compact, bug_class::gradient, "flash-attention#2611", "dO is read as if it were compact") {
  static F const* d_out(backward_place<F> const& at) {
    auto read = at.p.d_out();
    auto const& n = read.shape;
    std::int64_t const last = read.stride[0] * (n[0] - 1) + read.stride[1] * (n[1] - 1) + read.stride[2] * (n[2] - 1);
    return read.data + std::min(((at.b * n[1] + at.h) * n[2] + at.i) * n[3], last);
  }
};

// --- unusual calls ---

ATTEST_BACKWARD(dk_of_first_16_heads, bug_class::gradient, "", "dK and dV leave out query heads from 16 on") {
  static bool adds_head(backward_place<F> const& at) { return at.h < 16; }
};

ATTEST_BACKWARD(rows_above_1024_skipped, bug_class::gradient, "", "rows from 1,024 on are left out") {
  static bool skips(backward_place<F> const& at) { return at.i >= 1024; }
};

ATTEST_BACKWARD(scale_without_sign, bug_class::gradient, "", "dQ and dK are multiplied by the size of the scale") {
  static F scale_of_dQ(F sigma) { return std::abs(sigma); }
  static F scale_of_dK(F sigma) { return std::abs(sigma); }
};

ATTEST_BACKWARD(backward_ignores_blocks, bug_class::gradient, "", "the block mask is not read") {
  static bool attends(backward_place<F> const& at, std::int64_t j) {
    return !at.p.mask().present || at.p.mask()(at.b, at.h, at.i, j) != 0;
  }
};

ATTEST_BACKWARD(nan_of_do_swallowed, bug_class::nan_swallowed, "", "a NaN in dO counts as 0 in dP and in delta") {
  static F product(F const* d_o, F const* v, std::int64_t dv) {
    F sum = 0;
    for (std::int64_t c = 0; c < dv; ++c)
      if (d_o[c] == d_o[c]) sum += d_o[c] * v[c];
    return sum;
  }
  static F delta(F sum) { return sum == sum ? sum : F(0); }
};
