// Backward kernels with one mistake each in one gradient alone, in one loop alone, or in what is added up.
#include <bit>

#include "audit/zoo/backward/kernel.hpp"

// --- one loop alone ---

ATTEST_BACKWARD(dk_0_at_last_key_tile, bug_class::gradient, "", "dK is 0 at the last tile of 16 keys") {
  static bool in_dk(backward_place<F> const& at, std::int64_t j) {
    return j < 16 || j < (at.p.keys(at.b) - 1) / 16 * 16;
  }
};

ATTEST_BACKWARD(dkv_0_at_last_key_if_packed, bug_class::gradient, "", "dK and dV are 0 at the last key, if packed") {
  static bool in_dkv(backward_place<F> const& at, std::int64_t j) {
    return !at.p.entries().keys.is_packed() || j + 1 < at.p.keys(at.b);
  }
};

ATTEST_BACKWARD(window_edge_lost_in_dkv, bug_class::gradient, "", "dK and dV leave out the left edge of a window") {
  static bool in_dkv(backward_place<F> const& at, std::int64_t j) {
    problem::band const band = at.p.band(at.b);
    return band.left <= 0 || j - (at.i + band.diagonal) > -band.left;
  }
};

ATTEST_BACKWARD(causal_edge_lost_in_dq, bug_class::gradient, "", "dQ leaves out the last key of a causal band") {
  static bool in_dq(backward_place<F> const& at, std::int64_t j) {
    problem::band const band = at.p.band(at.b);
    return band.right != 0 || j < at.i + band.diagonal;
  }
};

ATTEST_BACKWARD(softcap_without_slope_in_dk, bug_class::gradient, "",
                "the derivative of the softcap is left out of dK") {
  static F slope_in_dK(F) { return 1; }
};

ATTEST_BACKWARD(dropout_unscaled_in_dv, bug_class::gradient, "", "kept weights are not divided by 1 - p in dV") {
  static F kept_in_dV(backward_place<F> const&, F) { return 1; }
};

// --- delta, the LSE, sums ---

ATTEST_BACKWARD(delta_stale_in_pairs, bug_class::gradient, "", "every second row takes the delta of the row before") {
  static backward_place<F> delta_place(backward_place<F> at) {
    at.i -= at.i % 2;
    return at;
  }
};

ATTEST_BACKWARD(delta_stale_at_tiles, bug_class::gradient, "",
                "the first row of each tile of 16 takes the delta of the row before") {
  static backward_place<F> delta_place(backward_place<F> at) {
    if (at.i > 0 && at.i % 16 == 0) --at.i;
    return at;
  }
};

ATTEST_BACKWARD(delta_of_o_in_bf16, bug_class::low_precision, "", "O is rounded to bf16 before delta is formed") {
  static F o_in_delta(F o) {
    auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(o));
    return static_cast<F>(std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000));
  }
};

ATTEST_BACKWARD(lse_of_interleaved_head, bug_class::gradient, "", "the LSE of query head h mod hk is read") {
  static F lse(backward_place<F> const& at) { return static_cast<F>(at.views.lse(at.b, at.h % at.size().hk, at.i, 0)); }
  static F sink_weight(backward_place<F> const& at, F t) { return honest_backward<F>::exp(t - lse(at)); }
};

ATTEST_BACKWARD(dkv_of_interleaved_heads, bug_class::gradient, "", "dK and dV add query head h to head h mod hk") {
  static std::int64_t head_of_dkv(backward_place<F> const& at) { return at.h % at.size().hk; }
};

ATTEST_BACKWARD(dbias_mean_of_heads, bug_class::gradient, "", "a bias without heads has the mean of their gradients") {
  static F bias_factor(backward_place<F> const& at, std::int64_t heads) {
    return heads == 1 ? F(1) / static_cast<F>(at.size().hq) : F(1);
  }
};

ATTEST_BACKWARD(dsink_without_delta, bug_class::gradient, "", "dSink is minus the weights of the sink") {
  static F delta_in_sink(F) { return 1; }
};

// --- calls that ask for some gradients alone ---

ATTEST_BACKWARD(dk_unwritten_without_dq, bug_class::gradient, "", "dK is not written where dQ is not asked for") {
  static bool writes_dk(problem::backward_views<F> const& views) { return views.dq.present; }
};
