// Backward kernels with one mistake each, of kinds that have been reported: the factor of the scale, delta, the pairs
// that a loop takes, what is summed over heads and rows. Others are in mutants_of_features.cpp.
#include <bit>

#include "audit/zoo/backward/kernel.hpp"

namespace attest::zoo {
namespace {

/// x with the significand of bf16.
template <class F>
F in_bf16(F x) {
  auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  return static_cast<F>(std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000));
}

}  // namespace
}  // namespace attest::zoo

// --- the scale ---

ATTEST_BACKWARD(dq_without_scale, bug_class::gradient, "", "dQ is not multiplied by the scale") {
  static F scale_of_dQ(F) { return 1; }
};

ATTEST_BACKWARD(dk_without_scale, bug_class::gradient, "", "dK is not multiplied by the scale") {
  static F scale_of_dK(F) { return 1; }
};

ATTEST_BACKWARD(dk_scaled_twice, bug_class::gradient, "", "dK is multiplied by the scale twice") {
  static F scale_of_dK(F sigma) { return sigma * sigma; }
};

// --- delta ---

ATTEST_BACKWARD(delta_forgotten, bug_class::gradient, "", "dS is P*dP, without delta") {
  static F delta(F) { return 0; }
};

ATTEST_BACKWARD(delta_of_next_row, bug_class::gradient, "TransformerEngine#3216", "delta is the next row's") {
  static backward_place<F> delta_place(backward_place<F> at) {
    if (at.i + 1 < at.p.queries(at.b)) ++at.i;
    return at;
  }
};

ATTEST_BACKWARD(delta_in_bf16, bug_class::low_precision, "", "delta is stored in bf16") {
  static F delta(F sum) { return attest::zoo::in_bf16(sum); }
};

ATTEST_BACKWARD(delta_without_last_column, bug_class::gradient, "", "delta leaves out the last column of O") {
  static constexpr bool delta_is_short = true;
};

ATTEST_BACKWARD(last_column_missing_in_dp, bug_class::gradient, "", "the last column of V is left out of dP") {
  static F product(F const* d_o, F const* v, std::int64_t dv) {
    return honest_backward<F>::product(d_o, v, dv > 1 ? dv - 1 : dv);
  }
};

// --- weights ---

ATTEST_BACKWARD(backward_lse_in_f16, bug_class::low_precision, "", "the LSE passes through 11 bits") {
  static F lse(backward_place<F> const& at) {
    F const x = honest_backward<F>::lse(at);
    if (!std::isfinite(x) || x == 0) return x;
    F const unit = std::ldexp(F(1), std::ilogb(x) - 10);
    return std::nearbyint(x / unit) * unit;
  }
};

ATTEST_BACKWARD(backward_lse_in_base_2, bug_class::gradient, "",
                "the natural LSE is read as a logarithm to the base 2") {
  static F lse(backward_place<F> const& at) { return honest_backward<F>::lse(at) * F(0.693147180559945309417L); }
};

ATTEST_BACKWARD(dv_unnormalised, bug_class::gradient, "", "dV takes e^(s - m) for the weights") {
  static constexpr bool dv_by_maximum = true;
};

ATTEST_BACKWARD(lse_of_kv_head, bug_class::gradient, "", "the LSE is indexed by the head of K and V") {
  static F lse(backward_place<F> const& at) { return static_cast<F>(at.views.lse(at.b, at.kv_head(), at.i, 0)); }
  static F sink_weight(backward_place<F> const& at, F t) { return honest_backward<F>::exp(t - lse(at)); }
};

ATTEST_BACKWARD(weights_in_bf16_in_dv, bug_class::low_precision, "", "weights are rounded to bf16 for dV") {
  static F weight_in_dV(F p) { return attest::zoo::in_bf16(p); }
};

ATTEST_BACKWARD(ds_in_bf16, bug_class::low_precision, "", "dS is rounded to bf16") {
  static F stored_dS(F dS) { return attest::zoo::in_bf16(dS); }
};

ATTEST_BACKWARD(dq_in_bf16, bug_class::low_precision, "", "gradients are stored in bf16") {
  static F stored(F x) { return attest::zoo::in_bf16(x); }
};

ATTEST_BACKWARD(exp_off_by_1e_4, bug_class::cheap_exp, "", "exp is 1e-4 too large") {
  static F exp(F x) { return honest_backward<F>::exp(x) * F(1.0001L); }
};

// --- pairs ---

ATTEST_BACKWARD(dq_without_last_key, bug_class::gradient, "", "dQ leaves out the last key") {
  static bool in_dq(backward_place<F> const& at, std::int64_t j) { return j + 1 < at.p.keys(at.b) || j == 0; }
};

ATTEST_BACKWARD(dq_without_last_key_block, bug_class::gradient, "", "dQ leaves out the last block of 8 keys") {
  static bool in_dq(backward_place<F> const& at, std::int64_t j) { return j < 8 || j < (at.p.keys(at.b) - 1) / 8 * 8; }
};

ATTEST_BACKWARD(dkv_without_last_query, bug_class::gradient, "", "dK and dV leave out the last query") {
  static bool in_dkv(backward_place<F> const& at, std::int64_t) { return at.i + 1 < at.p.queries(at.b) || at.i == 0; }
};

ATTEST_BACKWARD(dkv_whole_query_blocks, bug_class::gradient, "", "dK and dV take whole blocks of 8 queries only") {
  static bool in_dkv(backward_place<F> const& at, std::int64_t) {
    std::int64_t const n = at.p.queries(at.b);
    return n < 8 || at.i < n / 8 * 8;
  }
};

ATTEST_BACKWARD(dq_of_next_key, bug_class::gradient, "", "dQ multiplies dS by the next row of K") {
  static std::int64_t key_of_dQ(backward_place<F> const& at, std::int64_t j) {
    return j + 1 < at.p.keys(at.b) ? j + 1 : j;
  }
};

ATTEST_BACKWARD(backward_causal_off_by_one, bug_class::gradient, "", "the edge of the band is one key further") {
  static bool in_band(backward_place<F> const& at, std::int64_t j) {
    return honest_backward<F>::in_band(at, j) || (at.p.band().right >= 0 && honest_backward<F>::in_band(at, j - 1));
  }
};

ATTEST_BACKWARD(backward_causal_edge_dropped, bug_class::gradient, "", "the last key inside the band is left out") {
  static bool in_band(backward_place<F> const& at, std::int64_t j) {
    return honest_backward<F>::in_band(at, j) && (at.p.band().right < 0 || honest_backward<F>::in_band(at, j + 1));
  }
};

ATTEST_BACKWARD(backward_ignores_mask, bug_class::gradient, "", "the mask is not read") {
  static bool attends(backward_place<F> const&, std::int64_t) { return true; }
};

ATTEST_BACKWARD(backward_ignores_bias, bug_class::gradient, "", "the bias is not added") {
  static F added_bias(F) { return 0; }
};

ATTEST_BACKWARD(backward_bias_of_first_key, bug_class::gradient, "", "every key has the bias of key 0") {
  static std::int64_t key_of_bias(std::int64_t) { return 0; }
};

ATTEST_BACKWARD(empty_rows_leak, bug_class::gradient, "pytorch#41508", "a row without keys has the weights 1/m") {
  static constexpr bool leaks_empty_rows = true;
};

// --- sums over heads, rows and broadcast axes ---

ATTEST_BACKWARD(last_head_of_group_only, bug_class::gradient, "",
                "dK and dV are those of the group's last query head") {
  static bool adds_head(backward_place<F> const& at) {
    std::int64_t const group = at.size().hq / at.size().hk;
    return at.h % group == group - 1;
  }
};

ATTEST_BACKWARD(dbias_of_first_row, bug_class::gradient, "flash-sparse-attention PR#199",
                "a bias without rows has the gradient of the first row") {
  static bool adds_bias(backward_place<F> const& at) {
    std::int64_t const rows = at.views.dbias.present ? at.views.dbias.shape[2] : at.views.dbias_f32.shape[2];
    return rows > 1 || at.i == 0;
  }
};

ATTEST_BACKWARD(dbias_of_last_batch, bug_class::gradient, "",
                "a bias without batch has the gradient of the last entry") {
  static bool adds_bias(backward_place<F> const& at) {
    std::int64_t const entries = at.views.dbias.present ? at.views.dbias.shape[0] : at.views.dbias_f32.shape[0];
    return entries > 1 || at.b + 1 == at.size().b;
  }
};

ATTEST_BACKWARD(row_skipped_in_backward, bug_class::gradient, "PaddlePaddle/flash-attention PR#134",
                "rows 5, 13, 21, … are lost, as in a race") {
  static bool skips(backward_place<F> const& at) { return at.i % 8 == 5; }
};
