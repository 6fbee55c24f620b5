// Mistakes that authors of blocked kernels make between two right lines: a logarithm in one base beside another, a tile
// more or less, an offset of another tensor.
#include "audit/zoo/define.hpp"

// --- lse ---

ATTEST_MUTANT(lse_sum_in_base_2, bug_class::lse, "no public report", "the LSE is M + log2 l") {
  static F log_sum_exp(F M, F l) { return M + static_cast<F>(std::log2(static_cast<double>(l))); }
};

ATTEST_MUTANT(lse_maximum_in_base_2, bug_class::lse, "no public report", "the LSE is M in base 2, and ln l") {
  static F log_sum_exp(F M, F l) { return honest<F>::log_sum_exp(M * F(1.4426950408889634), l); }
};

// --- sums of blocks ---

ATTEST_MUTANT(rescales_in_base_2, bug_class::accuracy, "no public report",
              "O and l are rescaled by 2^(old - M), where weights are e^(s - M)") {
  static F rescale(F old, F M, F (*)(F, std::int64_t)) {
    return old == -honest<F>::infinity ? F(0) : static_cast<F>(std::exp2(static_cast<double>(old - M)));
  }
};

ATTEST_MUTANT(rescales_inversely, bug_class::accuracy, "no public report",
              "O and l are multiplied by e^(M - old), not e^(old - M)") {
  static F rescale(F old, F M, F (*)(F, std::int64_t)) {
    return old == -honest<F>::infinity ? F(0) : static_cast<F>(std::exp(static_cast<double>(M - old)));
  }
};

ATTEST_MUTANT(columns_behind_d_not_rescaled, bug_class::accuracy, "no public report",
              "of O the first d columns alone are rescaled when the maximum moves") {
  static bool keeps_column(place const& at, std::int64_t c) { return c >= at.depth(); }
};

ATTEST_MUTANT(merges_without_maxima, bug_class::lse, "no public report",
              "two parts of the keys are merged by their sums, without the weights of their maxima; the LSE is right") {
  static constexpr std::int64_t splits = 2;
  static constexpr bool merges_by_sums = true;
  static bool supports(attest_call const& call) { return !call.weights; }
};

ATTEST_MUTANT(hidden_keys_in_sum, bug_class::mask_polarity, "no public report",
              "l counts hidden keys, which do not meet V") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&& score) {
    return score();
  }
};

ATTEST_MUTANT(mask_before_softcap, bug_class::softcap_order, "no public report",
              "the mask comes before the softcap c, so that hidden keys score -c") {
  template <class Score>
  static std::optional<F> hidden(place const& at, Score&&) {
    if (at.call.softcap == 0) return std::nullopt;
    return -static_cast<F>(at.call.softcap);
  }
  static constexpr bool reads_hidden_values = true;
};

// --- tiles ---

ATTEST_MUTANT(key_tiles_by_queries, bug_class::memory, "no public report",
              "tiles of 16 keys are counted by n, so that keys behind are not read") {
  static std::int64_t keys(place const& at) { return std::min(at.keys(), (at.queries() + 15) / 16 * 16); }
};

ATTEST_MUTANT(window_from_whole_tile, bug_class::window_edge, "no public report",
              "a window begins with the first whole tile of 16 keys behind its left edge, for tiles of 16 queries") {
  static bool in_band(place const& at, std::int64_t j) {
    return honest<F>::in_band(at, j) && (at.call.left < 0 || j >= first_whole_tile(at, 16));
  }
};

ATTEST_MUTANT(diagonal_in_tiles, bug_class::causal_alignment, "no public report",
              "the diagonal is rounded to a multiple of 16, towards 0") {
  static bool in_band(place const& at, std::int64_t j) {
    return zoo::in_band(at.i, j, at.call.diagonal / 16 * 16, at.call.left, at.call.right);
  }
};

ATTEST_MUTANT(remainder_of_columns, bug_class::accuracy, "no public report",
              "of the columns of Q and K behind a multiple of 32, the first 8 are not read") {
  static F query(place const& at, std::int64_t t) {
    std::int64_t const tail = at.depth() / 32 * 32;
    return t >= tail && t < tail + 8 && at.depth() > tail + 8 ? F(0) : honest<F>::query(at, t);
  }
};

// --- offsets ---

ATTEST_MUTANT(bias_of_kv_head, bug_class::head_mapping, "no public report",
              "a query head uses the bias of its kv head") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + load<F>(*at.call.bias, at.b, at.hk, at.i, j) : s;
  }
};

ATTEST_MUTANT(stated_scale_twice, bug_class::accuracy, "no public report",
              "a scale that is stated is applied twice, the default scale once") {
  static F score(place const& at, F product, std::int64_t j) {
    F const scale = honest<F>::scale(at);
    F const s = honest<F>::softcap(at, product * scale * (at.explicit_scale() ? scale : F(1)));
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(bias_scaled, bug_class::accuracy, "no public report", "the bias is multiplied by the scale, too") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + honest<F>::bias(at, j) * honest<F>::scale(at) : s;
  }
};

ATTEST_MUTANT(values_of_entries_by_heads, bug_class::memory, "no public report",
              "V's stride between entries is taken to be its stride between heads") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    DLTensor v = *at.call.v;
    std::int64_t strides[4]{std::min(v.strides[0], v.strides[1]), v.strides[1], v.strides[2], v.strides[3]};
    v.strides = strides;
    return read<F, F>(v, at.b, at.hk, j, c);
  }
};
